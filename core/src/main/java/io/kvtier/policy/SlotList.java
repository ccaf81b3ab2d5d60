package io.kvtier.policy;

import java.util.Arrays;
import java.util.function.IntPredicate;

/** A doubly linked list of slots in two arrays; each slot stands in it at most once. */
final class SlotList {
    private static final int NONE = -1;
    private static final int OUTSIDE = -2;

    private int[] before = new int[0];
    private int[] after = new int[0];
    private int first = NONE;
    private int last = NONE;

    /** Returns the last slot that passes a test, or -1. */
    int lastWhere(IntPredicate test) {
        int slot = last;
        while (slot != NONE && !test.test(slot)) {
            slot = before[slot];
        }
        return slot;
    }

    boolean contains(int slot) {
        return slot < before.length && before[slot] != OUTSIDE;
    }

    void addFirst(int slot) {
        if (contains(slot)) {
            throw new IllegalStateException("slot " + slot + " is already in the list");
        }
        ensure(slot);
        before[slot] = NONE;
        after[slot] = first;
        if (first == NONE) {
            last = slot;
        } else {
            before[first] = slot;
        }
        first = slot;
    }

    void remove(int slot) {
        if (!contains(slot)) {
            throw new IllegalStateException("slot " + slot + " is not in the list");
        }
        if (before[slot] == NONE) {
            first = after[slot];
        } else {
            after[before[slot]] = after[slot];
        }
        if (after[slot] == NONE) {
            last = before[slot];
        } else {
            before[after[slot]] = before[slot];
        }
        before[slot] = OUTSIDE;
    }

    private void ensure(int slot) {
        int length = before.length;
        if (slot >= length) {
            int grown = Math.max(slot + 1, length + Math.max(64, length / 2));
            before = Arrays.copyOf(before, grown);
            after = Arrays.copyOf(after, grown);
            Arrays.fill(before, length, grown, OUTSIDE);
        }
    }
}
