package io.kvtier.object;

import java.util.Arrays;
import java.util.HexFormat;

/** The hash of one chunk and its prefix: from 1 to 32 bytes, compared as bytes. */
public final class ChunkHash {
    private final byte[] bytes;

    private ChunkHash(byte[] bytes) {
        this.bytes = bytes;
    }

    /**
     * Copies a hash.
     *
     * @throws IllegalArgumentException if it has no byte or more than 32
     */
    public static ChunkHash of(byte... bytes) {
        if (bytes.length < 1 || bytes.length > CacheIdentity.MAX_HASH_BYTES) {
            throw new IllegalArgumentException(
                    "a chunk hash has from 1 to " + CacheIdentity.MAX_HASH_BYTES + " bytes, got " + bytes.length);
        }
        return new ChunkHash(bytes.clone());
    }

    /** Returns a copy of the bytes. */
    public byte[] bytes() {
        return bytes.clone();
    }

    /** Returns the number of bytes. */
    public int length() {
        return bytes.length;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ChunkHash hash && Arrays.equals(bytes, hash.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    /** Returns the bytes in lower-case hexadecimal. */
    @Override
    public String toString() {
        return HexFormat.of().formatHex(bytes);
    }
}
