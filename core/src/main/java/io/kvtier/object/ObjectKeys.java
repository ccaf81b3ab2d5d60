package io.kvtier.object;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;

/**
 * Keys of one key space, in order, without an object per key: the chunk hashes lie one after the other in an array,
 * which may be refilled and reused. An instance is for one thread at a time; create it by {@link KeySpaces#keys}.
 */
public final class ObjectKeys {
    /** Distance of two hashes in the array; shorter hashes are followed by zeros. */
    static final int STRIDE = CacheIdentity.MAX_HASH_BYTES;

    /** Number of a key space that its registry does not know. */
    static final int UNKNOWN_SPACE = -1;

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final KeySpace space;
    private final int spaceId;
    private byte[] hashes = new byte[0];
    private int size;

    ObjectKeys(KeySpace space, int spaceId) {
        this.space = space;
        this.spaceId = spaceId;
    }

    /** Returns what all keys have in common. */
    public KeySpace space() {
        return space;
    }

    /** Returns the number of the key space in its registry, negative if it is not known there. */
    public int spaceId() {
        return spaceId;
    }

    /** Returns the number of keys. */
    public int size() {
        return size;
    }

    /**
     * Sets the number of keys; those that stay keep their hash.
     *
     * @return the array to write hashes to: hash {@code i} begins at byte {@code 32 * i}; bytes past a shorter hash must
     *     be zero
     */
    public byte[] resize(int newSize) {
        Objects.checkIndex(newSize, Integer.MAX_VALUE / STRIDE);
        if (newSize * STRIDE > hashes.length) {
            hashes = Arrays.copyOf(hashes, Math.max(newSize * STRIDE, Math.min(2 * hashes.length, 1 << 30)));
        }
        size = newSize;
        return hashes;
    }

    /**
     * Appends a key.
     *
     * @throws IllegalArgumentException if the hash is not as long as the identity says
     */
    public void add(ChunkHash hash) {
        ObjectKey key = new ObjectKey(space, hash);
        byte[] array = resize(size + 1);
        Arrays.fill(array, (size - 1) * STRIDE, size * STRIDE, (byte) 0);
        System.arraycopy(key.chunkHash().bytes(), 0, array, (size - 1) * STRIDE, hash.length());
    }

    /**
     * Returns a key as an object of its own.
     *
     * @throws IndexOutOfBoundsException if there is no such key
     */
    public ObjectKey key(int index) {
        Objects.checkIndex(index, size);
        int from = index * STRIDE;
        byte[] hash = Arrays.copyOfRange(hashes, from, from + space.identity().hashBytes());
        return new ObjectKey(space, ChunkHash.of(hash));
    }

    /** Returns 8 bytes of a hash as a little-endian number, {@code word} from 0 to 3. */
    long word(int index, int word) {
        Objects.checkIndex(index, size);
        return (long) LONGS.get(hashes, index * STRIDE + word * Long.BYTES);
    }
}
