package io.kvtier.object;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * What an index keeps of each object: 56 bytes per slot. One thread at a time creates, changes and frees records; all
 * others may meanwhile read them and count leases.
 */
final class ObjectRecords {
    /*
     * A record lies in one block, so that a look-up touches one or two adjacent cache lines of it. Blocks never move: a
     * status is changed by compare-and-set, from any thread, while more blocks are added.
     *
     *     word 0-3   chunk hash
     *     word 4     key space << 32 | checksum; while the slot is free, the next free slot << 32
     *     word 5     length
     *     word 6     status: epoch << 32 | state << 30 | linked << 29 | leases
     *
     * A record is to be believed if its status was the same before and after its other words were read: these change only
     * while the record is free or a stage that nobody else knows, and a slot's epoch goes up when it is freed.
     */
    static final int NONE = -1;
    static final int HASH_WORDS = CacheIdentity.MAX_HASH_BYTES / Long.BYTES;
    static final int BYTES = (HASH_WORDS + 3) * Long.BYTES;

    static final long LINKED = 1L << 29;
    static final long MOST_LEASES = LINKED - 1;

    private static final int STATE_SHIFT = 30;
    private static final int EPOCH_SHIFT = 32;
    private static final long STATE = 3L << STATE_SHIFT;

    private static final int SPACE_AND_CHECKSUM = HASH_WORDS;
    private static final int LENGTH = HASH_WORDS + 1;
    private static final int STATUS = HASH_WORDS + 2;
    private static final int WORDS = HASH_WORDS + 3;
    private static final int BLOCK_SHIFT = 11;
    private static final int BLOCK_SLOTS = 1 << BLOCK_SHIFT;
    private static final int BLOCK_MASK = BLOCK_SLOTS - 1;

    private static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);

    private volatile long[][] blocks = new long[0][];
    private volatile int usedSlots;
    private int firstFree = NONE;

    /** Takes a free slot for a stage of a key; its status goes from absent to staged. */
    int stage(ObjectKeys keys, int i) {
        int slot = takeSlot();
        long[] block = block(slot);
        int at = at(slot);
        for (int word = 0; word < HASH_WORDS; word++) {
            block[at + word] = keys.word(i, word);
        }
        block[at + SPACE_AND_CHECKSUM] = (long) keys.spaceId() << 32;
        block[at + LENGTH] = 0;
        long staged = (epoch(status(slot)) << EPOCH_SHIFT) | bits(ObjectState.STAGED);
        LONGS.setVolatile(block, at + STATUS, staged);
        return slot;
    }

    /** Sets what only the whole object has; for the one who staged it. */
    void complete(int slot, long length, int checksum) {
        long[] block = block(slot);
        block[at(slot) + LENGTH] = length;
        block[at(slot) + SPACE_AND_CHECKSUM] =
                (block[at(slot) + SPACE_AND_CHECKSUM] & 0xFFFF_FFFF_0000_0000L) | (checksum & 0xFFFF_FFFFL);
    }

    /** Frees a slot whose status has been made absent, of the next epoch. */
    void free(int slot) {
        block(slot)[at(slot) + SPACE_AND_CHECKSUM] = (long) firstFree << 32;
        firstFree = slot;
    }

    /** Returns the slots that there ever were; those from 0 to this may be read. */
    int usedSlots() {
        return usedSlots;
    }

    long status(int slot) {
        return (long) LONGS.getVolatile(block(slot), at(slot) + STATUS);
    }

    boolean changeStatus(int slot, long from, long to) {
        return LONGS.compareAndSet(block(slot), at(slot) + STATUS, from, to);
    }

    /** Returns whether a slot is, or just was, of a key; surer only with a status that was the same before. */
    boolean isOf(int slot, ObjectKeys keys, int i) {
        long[] block = block(slot);
        int at = at(slot);
        return block[at] == keys.word(i, 0)
                && block[at + 1] == keys.word(i, 1)
                && block[at + 2] == keys.word(i, 2)
                && block[at + 3] == keys.word(i, 3)
                && (int) (block[at + SPACE_AND_CHECKSUM] >> 32) == keys.spaceId();
    }

    boolean haveSameKey(int slot, int other) {
        return Arrays.equals(
                        block(slot), at(slot), at(slot) + HASH_WORDS, block(other), at(other), at(other) + HASH_WORDS)
                && spaceId(slot) == spaceId(other);
    }

    /** Returns 64 well mixed bits of a slot's key. */
    long mixedKey(int slot) {
        long[] block = block(slot);
        int at = at(slot);
        return mix(block[at], block[at + 1], spaceId(slot));
    }

    /** Returns 64 well mixed bits of a key. */
    static long mixedKey(ObjectKeys keys, int i) {
        return mix(keys.word(i, 0), keys.word(i, 1), keys.spaceId());
    }

    long hashWord(int slot, int word) {
        return block(slot)[at(slot) + word];
    }

    int spaceId(int slot) {
        return (int) (block(slot)[at(slot) + SPACE_AND_CHECKSUM] >> 32);
    }

    long length(int slot) {
        return block(slot)[at(slot) + LENGTH];
    }

    int checksum(int slot) {
        return (int) block(slot)[at(slot) + SPACE_AND_CHECKSUM];
    }

    /** Returns the bytes of the arrays. */
    long bytes() {
        return (long) blocks.length * BLOCK_SLOTS * BYTES;
    }

    static ObjectState state(long status) {
        return ObjectState.ofCode((byte) ((status >>> STATE_SHIFT) & 3));
    }

    static boolean isResident(long status) {
        return (status & STATE) == bits(ObjectState.RESIDENT);
    }

    static long withState(long status, ObjectState state) {
        return (status & ~STATE) | bits(state);
    }

    /** Returns what follows on a status when the slot is freed. */
    static long freed(long status) {
        return (epoch(status) + 1) << EPOCH_SHIFT;
    }

    static int leases(long status) {
        return (int) (status & MOST_LEASES);
    }

    static long epoch(long status) {
        return status >>> EPOCH_SHIFT;
    }

    private static long bits(ObjectState state) {
        return (long) state.code() << STATE_SHIFT;
    }

    private static long mix(long first, long second, int space) {
        long mixed = (first ^ Long.rotateLeft(second, 32) ^ space * 0x9E3779B97F4A7C15L) * 0xD6E8FEB86659FD93L;
        return (mixed ^ (mixed >>> 32)) * 0xD6E8FEB86659FD93L;
    }

    private int takeSlot() {
        if (firstFree != NONE) {
            int slot = firstFree;
            firstFree = spaceId(slot);
            return slot;
        }
        int slot = usedSlots;
        if (slot == blocks.length << BLOCK_SHIFT) {
            long[][] grown = Arrays.copyOf(blocks, blocks.length + 1);
            grown[blocks.length] = new long[BLOCK_SLOTS * WORDS];
            blocks = grown;
        }
        usedSlots = slot + 1;
        return slot;
    }

    private long[] block(int slot) {
        return blocks[slot >>> BLOCK_SHIFT];
    }

    private static int at(int slot) {
        return (slot & BLOCK_MASK) * WORDS;
    }
}
