package io.kvtier.memory;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Ranges of any size over a slab. Any thread may allocate and free; a call takes a lock for a fraction of a microsecond and
 * allocates Java memory only when there are more ranges than ever before. Every byte of the slab can be used, and free
 * neighbours are one range at once. The slab's owner keeps the slab open as long as ranges are in use.
 *
 * <p>A range is named by a handle that is valid from its allocation to its free; a handle that was freed, or is of another
 * pool, is refused; only after the same handle's place was used 2^26 times again, or 4096 more pools were made, could one be
 * taken for another. A pool holds at most 2^24 ranges.
 */
public final class RangePool {
    /*
     * FreeRanges holds the pieces; a handle names one of its nodes and that node's generation, which goes up at each
     * allocation and each free and is odd while the range is in use. From the highest bit: 1 bit zero | 12 bits pool |
     * 27 bits generation | 24 bits node.
     */
    /** What {@link #allocate} returns when no free range can hold what was asked for. */
    public static final long NONE = -1;

    /** The largest alignment. */
    public static final long MAX_ALIGNMENT = 1L << 30;

    private static final int NODE_BITS = 24;
    private static final int GENERATION_BITS = 27;
    private static final int POOL_BITS = 12;
    private static final int GENERATION_MASK = (1 << GENERATION_BITS) - 1;

    private static final AtomicInteger POOLS = new AtomicInteger();

    private final Slab slab;
    private final long base;
    private final int pool;
    private final ReentrantLock lock = new ReentrantLock();
    private final FreeRanges ranges;
    private int[] generations = new int[64];

    /**
     * Makes a pool of a slab's bytes.
     *
     * @param slab the memory, owned by the caller
     */
    public RangePool(Slab slab) {
        this.slab = Objects.requireNonNull(slab, "slab");
        this.base = slab.segment().address();
        this.pool = POOLS.getAndIncrement() & ((1 << POOL_BITS) - 1);
        this.ranges = new FreeRanges(slab.byteSize());
    }

    /**
     * Allocates a range.
     *
     * @param bytes size, at least 1
     * @param alignment of its address, a power of two up to {@link #MAX_ALIGNMENT}
     * @return its handle, or {@link #NONE} if no free range can hold it; the pool is then unchanged
     * @throws IllegalArgumentException if a number is out of range
     */
    public long allocate(long bytes, long alignment) {
        requireSize(bytes);
        requireAlignment(alignment);
        lock.lock();
        try {
            return take(bytes, alignment);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Allocates several ranges or none.
     *
     * @param bytes the sizes
     * @param alignment of each address, a power of two up to {@link #MAX_ALIGNMENT}
     * @param handles receives a handle for each size, from element 0 on; zeros if they do not all fit
     * @return whether all fit; if not, the pool is unchanged
     * @throws IllegalArgumentException if a number is out of range
     * @throws IndexOutOfBoundsException if there are fewer handles than sizes
     */
    public boolean allocate(long[] bytes, long alignment, long[] handles) {
        Objects.checkFromIndexSize(0, bytes.length, handles.length);
        requireAlignment(alignment);
        for (long size : bytes) {
            requireSize(size);
        }
        lock.lock();
        try {
            for (int i = 0; i < bytes.length; i++) {
                handles[i] = take(bytes[i], alignment);
                if (handles[i] == NONE) {
                    handles[i] = 0;
                    undo(handles, i);
                    return false;
                }
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Gives a range back.
     *
     * @throws IllegalStateException if the handle is not of a range in use in this pool: freed before, of another pool, or
     *     made up; the pool is unchanged
     */
    public void free(long handle) {
        lock.lock();
        try {
            give(node(handle));
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns where a range begins in the slab, in bytes.
     *
     * @throws IllegalStateException if the handle is not of a range in use in this pool
     */
    public long offset(long handle) {
        lock.lock();
        try {
            return ranges.offset(node(handle));
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns a range's size in bytes, as it was asked for.
     *
     * @throws IllegalStateException if the handle is not of a range in use in this pool
     */
    public long byteSize(long handle) {
        lock.lock();
        try {
            return ranges.size(node(handle));
        } finally {
            lock.unlock();
        }
    }

    /**
     * Returns a range's memory.
     *
     * @throws IllegalStateException if the handle is not of a range in use in this pool
     */
    public MemorySegment range(long handle) {
        lock.lock();
        try {
            int node = node(handle);
            return slab.segment().asSlice(ranges.offset(node), ranges.size(node));
        } finally {
            lock.unlock();
        }
    }

    /** Returns the bytes of the slab: {@code free() + used()}. */
    public long capacity() {
        return slab.byteSize();
    }

    /** Returns the bytes that are free. */
    public long free() {
        lock.lock();
        try {
            return ranges.freeSize();
        } finally {
            lock.unlock();
        }
    }

    /** Returns the bytes in use, exactly as asked for. */
    public long used() {
        return capacity() - free();
    }

    /** Returns the size of the largest free range in bytes. */
    public long largestFree() {
        lock.lock();
        try {
            return ranges.largest();
        } finally {
            lock.unlock();
        }
    }

    /** Says why a request was refused: how much was asked for, and what is free. */
    public String refusal(long bytes, long alignment) {
        return bytes + " bytes aligned to " + alignment + " requested; of " + capacity() + " bytes " + free()
                + " are free, at most " + largestFree() + " in one piece";
    }

    private long take(long bytes, long alignment) {
        int node = ranges.take(bytes, alignment, base);
        if (node == FreeRanges.NONE) {
            return NONE;
        }
        if (node >= generations.length) {
            generations = Arrays.copyOf(generations, node + (node >> 1));
        }
        generations[node] = (generations[node] + 1) & GENERATION_MASK;
        return (long) pool << (NODE_BITS + GENERATION_BITS) | (long) generations[node] << NODE_BITS | node;
    }

    private void give(int node) {
        generations[node] = (generations[node] + 1) & GENERATION_MASK;
        ranges.give(node);
    }

    private void undo(long[] handles, int count) {
        for (int i = 0; i < count; i++) {
            give(node(handles[i]));
            handles[i] = 0;
        }
    }

    private int node(long handle) {
        int node = (int) handle & ((1 << NODE_BITS) - 1);
        int generation = (int) (handle >>> NODE_BITS) & GENERATION_MASK;
        boolean ours = handle >>> (NODE_BITS + GENERATION_BITS) == pool && node < generations.length;
        if (!ours || generations[node] != generation || (generation & 1) == 0) {
            throw new IllegalStateException("handle 0x" + Long.toHexString(handle) + " is of no range in use in pool "
                    + pool
                    + ": it names pool " + (handle >>> (NODE_BITS + GENERATION_BITS)) + ", generation " + generation
                    + ", range " + node);
        }
        return node;
    }

    private static void requireSize(long bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("a range has at least 1 byte, got " + bytes);
        }
    }

    private static void requireAlignment(long alignment) {
        if (alignment < 1 || alignment > MAX_ALIGNMENT || Long.bitCount(alignment) != 1) {
            throw new IllegalArgumentException(
                    "an alignment is a power of two from 1 to " + MAX_ALIGNMENT + ", got " + alignment);
        }
    }
}
