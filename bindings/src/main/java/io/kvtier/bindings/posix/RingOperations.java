package io.kvtier.bindings.posix;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What a ring has under way. Each operation has a slot, which keeps its file open and its memory reachable, and a tag that
 * no later operation of the same slot has. For one thread at a time.
 */
final class RingOperations {
    private static final int GENERATION_SHIFT = 32;
    private static final int LAST_GENERATION = Integer.MAX_VALUE;

    private final long[] data;
    private final int[] generations;
    private final @Nullable NativeFile[] files;
    private final @Nullable Object[] memory;
    private final boolean[] busy;
    private final int[] free;
    private int freeCount;

    RingOperations(int capacity) {
        data = new long[capacity];
        generations = new int[capacity];
        files = new NativeFile[capacity];
        memory = new Object[capacity];
        busy = new boolean[capacity];
        free = new int[capacity];
        Arrays.setAll(free, i -> capacity - 1 - i);
        freeCount = capacity;
    }

    int capacity() {
        return data.length;
    }

    int count() {
        return data.length - freeCount;
    }

    /** Begins an operation; there must be room. */
    long begin(long userData, @Nullable NativeFile file, @Nullable Object used) {
        if (file != null) {
            file.users().hold();
        }
        int slot = free[--freeCount];
        data[slot] = userData;
        files[slot] = file;
        memory[slot] = used;
        busy[slot] = true;
        return tag(slot);
    }

    /** Ends an operation and returns its user data. */
    long end(long tag) {
        int slot = (int) tag;
        NativeFile file = files[slot];
        if (file != null) {
            file.users().release();
        }
        files[slot] = null;
        memory[slot] = null;
        busy[slot] = false;
        generations[slot] = generations[slot] == LAST_GENERATION ? 0 : generations[slot] + 1;
        free[freeCount++] = slot;
        return data[slot];
    }

    /** Returns the tag of the operation with some user data; -1 if there is none. */
    long find(long userData) {
        for (int slot = 0; slot < data.length; slot++) {
            if (busy[slot] && data[slot] == userData) {
                return tag(slot);
            }
        }
        return -1;
    }

    private long tag(int slot) {
        return (long) generations[slot] << GENERATION_SHIFT | slot;
    }
}
