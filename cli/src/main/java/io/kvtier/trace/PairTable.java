package io.kvtier.trace;

import java.util.Arrays;

/**
 * Numbers pairs of a scope and an id from 0 in the order they first come, and keeps one int for each. An
 * open-addressing table without objects.
 */
final class PairTable {
    /** Half of the largest array of slots, as at least half of them stay free. */
    private static final int MOST = 1 << 29;

    private static final int FREE = 0;

    /** Numbers plus one, at the place the pair's hash asks for or the next free one. */
    private int[] slots = new int[1024];

    private int[] scopes = new int[512];
    private long[] ids = new long[512];
    private int[] values = new int[512];
    private int size;

    int size() {
        return size;
    }

    int scope(int number) {
        return scopes[number];
    }

    long id(int number) {
        return ids[number];
    }

    int value(int number) {
        return values[number];
    }

    /** Returns the pair's number, or -1. */
    int find(int scope, long id) {
        return slots[slotOf(scope, id)] - 1;
    }

    /** Returns the pair's number, a new one with the given value if the pair is new. */
    int intern(int scope, long id, int value) throws BadLineException {
        int slot = slotOf(scope, id);
        return slots[slot] == FREE ? append(slot, scope, id, value) : slots[slot] - 1;
    }

    private int append(int slot, int scope, long id, int value) throws BadLineException {
        if (size == MOST) {
            throw new BadLineException("there are more than " + MOST + " distinct ids");
        }
        int number = size++;
        growColumns();
        scopes[number] = scope;
        ids[number] = id;
        values[number] = value;
        slots[slot] = size;
        if (2 * size > slots.length) {
            rehash();
        }
        return number;
    }

    private void growColumns() {
        if (size > ids.length) {
            int length = ids.length + ids.length / 2;
            scopes = Arrays.copyOf(scopes, length);
            ids = Arrays.copyOf(ids, length);
            values = Arrays.copyOf(values, length);
        }
    }

    private void rehash() {
        slots = new int[2 * slots.length];
        for (int number = 0; number < size; number++) {
            slots[slotOf(scopes[number], ids[number])] = number + 1;
        }
    }

    private int slotOf(int scope, long id) {
        int slot = hash(scope, id) & (slots.length - 1);
        while (slots[slot] != FREE && !holds(slots[slot] - 1, scope, id)) {
            slot = (slot + 1) & (slots.length - 1);
        }
        return slot;
    }

    private boolean holds(int number, int scope, long id) {
        return ids[number] == id && scopes[number] == scope;
    }

    /** The finisher of MurmurHash3, so that consecutive ids spread. */
    private static int hash(int scope, long id) {
        long mixed = id + scope * 0x9E3779B97F4A7C15L;
        mixed = (mixed ^ (mixed >>> 33)) * 0xFF51AFD7ED558CCDL;
        mixed = (mixed ^ (mixed >>> 33)) * 0xC4CEB9FE1A85EC53L;
        return (int) (mixed ^ (mixed >>> 33));
    }
}
