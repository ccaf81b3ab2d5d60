package io.kvtier.trace;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The bytes of a block, which follow from its key alone: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) seeded with the
 * key. So a block that comes back can be compared with what it must be.
 */
final class BlockPayload {
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final long GOLDEN_GAMMA = 0x9E3779B97F4A7C15L;

    private BlockPayload() {}

    /** Fills a segment with the bytes of the block whose key begins at an offset. */
    static void fill(byte[] keys, int offset, MemorySegment payload) {
        long state = seed(keys, offset);
        long whole = payload.byteSize() & -Long.BYTES;
        for (long at = 0; at < whole; at += Long.BYTES) {
            state += GOLDEN_GAMMA;
            payload.set(LONG, at, mix(state));
        }
        long last = mix(state + GOLDEN_GAMMA);
        for (long at = whole; at < payload.byteSize(); at++, last >>>= Byte.SIZE) {
            payload.set(ValueLayout.JAVA_BYTE, at, (byte) last);
        }
    }

    private static long seed(byte[] keys, int offset) {
        MemorySegment key = MemorySegment.ofArray(keys);
        long seed = 0;
        for (int word = 0; word < 4; word++) {
            seed = mix(seed + key.get(LONG, offset + word * (long) Long.BYTES));
        }
        return seed;
    }

    private static long mix(long state) {
        long z = (state ^ (state >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }
}
