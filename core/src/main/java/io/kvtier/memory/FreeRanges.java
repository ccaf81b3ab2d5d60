package io.kvtier.memory;

import java.util.Arrays;

/** A range of numbers cut into pieces that are free or in use. Not thread-safe. */
final class FreeRanges {
    /*
     * Two-level segregated fit (Masmano et al. 2004) with all bookkeeping beside the memory, which may be a device's. Every
     * piece is a node; `before` and `after` chain all pieces by position, so that a piece given back merges with its free
     * neighbours at once and no two free pieces are ever adjacent. `next` and `previous` chain the free pieces of a size
     * class: 32 classes per power of two, each with a bit in `classes`, and a bit in `powers` for each power that has any.
     *
     * A request looks at a few pieces of its own class, where the tightest fit is, then takes any piece of the next larger
     * class that has one: it fits for sure. Only if there is none are all pieces of its own class looked at, so a request
     * is refused only if no free piece can hold it. An alignment is first asked for as if it cost its most.
     */
    static final int NONE = -1;

    /** The most pieces, free or in use. */
    static final int MAX_NODES = 1 << 24;

    private static final int CLASS_BITS = 5;
    private static final int CLASSES = 1 << CLASS_BITS;
    private static final int POWERS = Long.SIZE - CLASS_BITS;
    private static final int CLOSE_LOOKS = 8;
    private static final int FIRST_NODES = 64;

    private final int[] heads = new int[POWERS * CLASSES];
    private final int[] classes = new int[POWERS];
    private long powers;

    private long[] offsets = new long[FIRST_NODES];
    private long[] sizes = new long[FIRST_NODES];
    private int[] before = new int[FIRST_NODES];
    private int[] after = new int[FIRST_NODES];
    private int[] next = new int[FIRST_NODES];
    private int[] previous = new int[FIRST_NODES];
    private boolean[] free = new boolean[FIRST_NODES];
    private int nodes;
    private int recycled = NONE;
    private long freeSize;

    FreeRanges(long capacity) {
        Arrays.fill(heads, NONE);
        int all = newNode(0, capacity);
        before[all] = NONE;
        after[all] = NONE;
        freeSize = capacity;
        link(all);
    }

    /**
     * Takes a piece.
     *
     * @param size at least 1
     * @param alignment a power of two
     * @param base what the piece's offset is added to before it is aligned
     * @return the piece, or {@link #NONE} if no free piece can hold it
     */
    int take(long size, long alignment, long base) {
        // A piece may be cut twice.
        int node = nodes > MAX_NODES - 2 && recycled == NONE ? NONE : find(size, alignment, base);
        if (node == NONE) {
            return NONE;
        }
        unlink(node);
        long start = aligned(offsets[node], alignment, base);
        if (start > offsets[node]) {
            int rest = node;
            node = split(node, start - offsets[node]);
            link(rest);
        }
        if (sizes[node] > size) {
            link(split(node, size));
        }
        freeSize -= size;
        return node;
    }

    /** Gives a piece back; only who took it may, once. */
    void give(int node) {
        freeSize += sizes[node];
        int merged = node;
        int left = before[merged];
        if (left != NONE && free[left]) {
            unlink(left);
            absorbNext(left);
            merged = left;
        }
        int right = after[merged];
        if (right != NONE && free[right]) {
            unlink(right);
            absorbNext(merged);
        }
        link(merged);
    }

    long offset(int node) {
        return offsets[node];
    }

    long size(int node) {
        return sizes[node];
    }

    /** Returns the size of all free pieces. */
    long freeSize() {
        return freeSize;
    }

    /** Returns the size of the largest free piece, 0 if nothing is free. */
    long largest() {
        if (powers == 0) {
            return 0;
        }
        int power = Long.SIZE - 1 - Long.numberOfLeadingZeros(powers);
        int sizeClass = Integer.SIZE - 1 - Integer.numberOfLeadingZeros(classes[power]);
        long largest = 0;
        for (int node = heads[power * CLASSES + sizeClass]; node != NONE; node = next[node]) {
            largest = Math.max(largest, sizes[node]);
        }
        return largest;
    }

    private int find(long size, long alignment, long base) {
        int own = classOf(size);
        int node = firstFit(own, CLOSE_LOOKS, size, alignment, base);
        if (node == NONE && alignment > 1 && size + alignment - 1 > 0) {
            node = headFrom(classOf(size + alignment - 1) + 1);
        }
        for (int larger = nonEmpty(own + 1); node == NONE && larger != NONE; larger = nonEmpty(larger + 1)) {
            node = firstFit(larger, Integer.MAX_VALUE, size, alignment, base);
        }
        return node == NONE ? firstFit(own, Integer.MAX_VALUE, size, alignment, base) : node;
    }

    private int firstFit(int sizeClass, int looks, long size, long alignment, long base) {
        int node = heads[sizeClass];
        for (int i = 0; i < looks && node != NONE; i++) {
            long padding = aligned(offsets[node], alignment, base) - offsets[node];
            if (sizes[node] - padding >= size) {
                return node;
            }
            node = next[node];
        }
        return NONE;
    }

    private int headFrom(int sizeClass) {
        int found = nonEmpty(sizeClass);
        return found == NONE ? NONE : heads[found];
    }

    /** Returns the first class from another on that has a piece. */
    private int nonEmpty(int from) {
        int power = from >>> CLASS_BITS;
        if (power >= POWERS) {
            return NONE;
        }
        int inPower = classes[power] & (-1 << from);
        if (inPower == 0) {
            long larger = power + 1 < POWERS ? powers & (-1L << (power + 1)) : 0;
            if (larger == 0) {
                return NONE;
            }
            power = Long.numberOfTrailingZeros(larger);
            inPower = classes[power];
        }
        return power * CLASSES + Integer.numberOfTrailingZeros(inPower);
    }

    /** Returns a size's class: below 32 one for each size, above 32 for each power of two. */
    private static int classOf(long size) {
        if (size < CLASSES) {
            return (int) size;
        }
        int power = Long.SIZE - 1 - Long.numberOfLeadingZeros(size);
        int inPower = (int) (size >>> (power - CLASS_BITS)) & (CLASSES - 1);
        return (power - CLASS_BITS + 1) * CLASSES + inPower;
    }

    private void link(int node) {
        int sizeClass = classOf(sizes[node]);
        int head = heads[sizeClass];
        next[node] = head;
        previous[node] = NONE;
        if (head != NONE) {
            previous[head] = node;
        }
        heads[sizeClass] = node;
        free[node] = true;
        int power = sizeClass >>> CLASS_BITS;
        classes[power] |= 1 << sizeClass;
        powers |= 1L << power;
    }

    private void unlink(int node) {
        free[node] = false;
        if (next[node] != NONE) {
            previous[next[node]] = previous[node];
        }
        if (previous[node] != NONE) {
            next[previous[node]] = next[node];
            return;
        }
        int sizeClass = classOf(sizes[node]);
        heads[sizeClass] = next[node];
        if (next[node] == NONE) {
            int power = sizeClass >>> CLASS_BITS;
            classes[power] &= ~(1 << sizeClass);
            if (classes[power] == 0) {
                powers &= ~(1L << power);
            }
        }
    }

    /** Cuts a piece after some of its size; returns the second part. */
    private int split(int node, long size) {
        int second = newNode(offsets[node] + size, sizes[node] - size);
        sizes[node] = size;
        before[second] = node;
        after[second] = after[node];
        if (after[node] != NONE) {
            before[after[node]] = second;
        }
        after[node] = second;
        return second;
    }

    private void absorbNext(int node) {
        int second = after[node];
        sizes[node] += sizes[second];
        after[node] = after[second];
        if (after[second] != NONE) {
            before[after[second]] = node;
        }
        next[second] = recycled;
        recycled = second;
    }

    private int newNode(long offset, long size) {
        int node = recycled;
        if (node == NONE) {
            node = nodes++;
            if (node == sizes.length) {
                grow();
            }
        } else {
            recycled = next[node];
        }
        offsets[node] = offset;
        sizes[node] = size;
        return node;
    }

    private void grow() {
        int length = Math.addExact(sizes.length, sizes.length >> 1);
        offsets = Arrays.copyOf(offsets, length);
        sizes = Arrays.copyOf(sizes, length);
        before = Arrays.copyOf(before, length);
        after = Arrays.copyOf(after, length);
        next = Arrays.copyOf(next, length);
        previous = Arrays.copyOf(previous, length);
        free = Arrays.copyOf(free, length);
    }

    private static long aligned(long offset, long alignment, long base) {
        return ((base + offset + alignment - 1) & -alignment) - base;
    }
}
