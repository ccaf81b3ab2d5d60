package io.kvtier.object;

import java.util.Arrays;
import java.util.Objects;
import java.util.function.IntConsumer;

/**
 * A tier's index: key to slot, and per slot state, leases, length and checksum. A slot is a small number under which the
 * tier may keep more. Not thread-safe: the tier's lock guards it.
 */
public final class ObjectIndex {
    /*
     * All columns are primitive arrays indexed by slot, so an object costs no Java object. `buckets` is an open-addressing
     * table (linear probing, at most half full) of slot + 1; removal shifts the following entries back instead of leaving
     * tombstones, so that a table that is always full of live entries never decays. Free slots form a list through
     * `spaces`. A slot's epoch goes up when the slot is given to another object: a lease carries the epoch that it was
     * taken in, and a lease of an earlier epoch can release nothing.
     */
    /** What look-ups return when there is no such object. */
    public static final int NONE = -1;

    private static final int INITIAL_SLOTS = 64;
    private static final int WORDS = CacheIdentity.MAX_HASH_BYTES / Long.BYTES;

    private int[] buckets = new int[2 * INITIAL_SLOTS];
    private long[] hashes = new long[WORDS * INITIAL_SLOTS];
    private int[] spaces = new int[INITIAL_SLOTS];
    private byte[] states = new byte[INITIAL_SLOTS];
    private boolean[] linked = new boolean[INITIAL_SLOTS];
    private int[] leases = new int[INITIAL_SLOTS];
    private int[] epochs = new int[INITIAL_SLOTS];
    private long[] lengths = new long[INITIAL_SLOTS];
    private int[] checksums = new int[INITIAL_SLOTS];
    private int firstFree = NONE;
    private int usedSlots;
    private int size;
    private long leaseCount;

    /** Creates an empty index. */
    public ObjectIndex() {}

    /** Returns the slot of a key's object in any state, or {@link #NONE}; unlinked stages are not found. */
    public int find(ObjectKeys keys, int i) {
        int mask = buckets.length - 1;
        long first = keys.word(i, 0);
        for (int bucket = bucket(first, keys.spaceId()); ; bucket = (bucket + 1) & mask) {
            int slot = buckets[bucket] - 1;
            if (slot == NONE || matches(slot, keys, i, first)) {
                return slot;
            }
        }
    }

    /** Returns the slot of a key's object if it is resident, else {@link #NONE}. */
    public int findResident(ObjectKeys keys, int i) {
        int slot = find(keys, i);
        return slot != NONE && state(slot) == ObjectState.RESIDENT ? slot : NONE;
    }

    /**
     * Takes a slot for a key's object, staged and not found by anyone.
     *
     * @throws IllegalArgumentException if the keys were made for looking up only
     */
    public int stage(ObjectKeys keys, int i) {
        if (keys.spaceId() == ObjectKeys.UNKNOWN_SPACE) {
            throw new IllegalArgumentException("these keys are for looking up: their key space is not registered");
        }
        int slot = takeSlot();
        for (int word = 0; word < WORDS; word++) {
            hashes[slot * WORDS + word] = keys.word(i, word);
        }
        spaces[slot] = keys.spaceId();
        states[slot] = ObjectState.STAGED.code();
        linked[slot] = false;
        size++;
        return slot;
    }

    /**
     * Enters a staged slot under its key.
     *
     * @return false if the key already has a slot; nothing changed
     * @throws IllegalStateException if the slot is not staged or was linked before
     */
    public boolean link(int slot) {
        require(slot, ObjectState.STAGED);
        if (linked[slot]) {
            throw new IllegalStateException("slot " + slot + " is already linked");
        }
        int mask = buckets.length - 1;
        int bucket = bucket(hashes[slot * WORDS], spaces[slot]);
        while (buckets[bucket] != 0) {
            if (sameKey(buckets[bucket] - 1, slot)) {
                return false;
            }
            bucket = (bucket + 1) & mask;
        }
        buckets[bucket] = slot + 1;
        linked[slot] = true;
        return true;
    }

    /**
     * Makes a staged, linked object readable.
     *
     * @throws IllegalStateException if it is not staged and linked
     */
    public void publish(int slot, long length, int checksum) {
        require(slot, ObjectState.STAGED);
        if (!linked[slot]) {
            throw new IllegalStateException("slot " + slot + " is staged but not linked");
        }
        lengths[slot] = length;
        checksums[slot] = checksum;
        states[slot] = ObjectState.RESIDENT.code();
    }

    /**
     * Hides a resident object from readers; its leases stay valid.
     *
     * @throws IllegalStateException if it is not resident
     */
    public void retire(int slot) {
        require(slot, ObjectState.RESIDENT);
        states[slot] = ObjectState.EVICTING.code();
    }

    /**
     * Takes a hidden object out from under its key, so that another can be linked there; its leases stay valid.
     *
     * @throws IllegalStateException if it is not evicting
     */
    public void detach(int slot) {
        require(slot, ObjectState.EVICTING);
        if (linked[slot]) {
            unlink(slot);
        }
    }

    /**
     * Makes a hidden object readable again.
     *
     * @throws IllegalStateException if it is not evicting
     */
    public void restore(int slot) {
        require(slot, ObjectState.EVICTING);
        states[slot] = ObjectState.RESIDENT.code();
    }

    /**
     * Forgets an object and frees its slot.
     *
     * @throws IllegalStateException if it has leases or is absent
     */
    public void remove(int slot) {
        if (state(slot) == ObjectState.ABSENT || leases[slot] > 0) {
            throw new IllegalStateException(
                    "slot " + slot + " cannot be removed: state " + state(slot) + ", leases " + leases[slot]);
        }
        if (linked[slot]) {
            unlink(slot);
        }
        states[slot] = ObjectState.ABSENT.code();
        epochs[slot]++;
        spaces[slot] = firstFree;
        firstFree = slot;
        size--;
    }

    /**
     * Takes a lease on a resident object.
     *
     * @return the lease, to be given back once with {@link #release}
     * @throws IllegalStateException if it is not resident
     */
    public long lease(int slot) {
        require(slot, ObjectState.RESIDENT);
        leases[slot]++;
        leaseCount++;
        return (long) epochs[slot] << 32 | slot;
    }

    /**
     * Gives a lease back. Leases on one object are alike: giving one back twice while others are open takes one of theirs,
     * so whoever holds leases must know which are still its own.
     *
     * @return the number of leases left on its object
     * @throws IllegalStateException if no lease is left on its object, or the slot now is another object's
     */
    public int release(long lease) {
        int slot = slot(lease);
        requireLive(lease);
        leaseCount--;
        return --leases[slot];
    }

    /**
     * Checks that a lease can still stand for its object.
     *
     * @throws IllegalStateException if its object is gone
     */
    public void requireLive(long lease) {
        int slot = slot(lease);
        if (slot < 0 || slot >= usedSlots || epochs[slot] != (int) (lease >>> 32) || leases[slot] == 0) {
            throw new IllegalStateException("lease of slot " + slot + " in epoch " + (int) (lease >>> 32)
                    + " is not live"
                    + (slot < 0 || slot >= usedSlots
                            ? ""
                            : "; the slot is in epoch " + epochs[slot] + " with " + leases[slot] + " leases"));
        }
    }

    /** Returns the slot that a lease is on. */
    public static int slot(long lease) {
        return (int) lease;
    }

    /** Returns the state of a slot's object. */
    public ObjectState state(int slot) {
        return ObjectState.ofCode(states[slot]);
    }

    /** Returns the number of leases on a slot's object. */
    public int leases(int slot) {
        return leases[slot];
    }

    /** Returns the payload bytes of a resident object. */
    public long length(int slot) {
        return lengths[slot];
    }

    /** Returns the CRC-32C of a resident object's payload. */
    public int checksum(int slot) {
        return checksums[slot];
    }

    /** Returns the number of a slot's key space. */
    public int spaceId(int slot) {
        return spaces[slot];
    }

    /** Copies the chunk hash of a slot's object to the first 32 bytes of an array. */
    public void copyHash(int slot, byte[] out) {
        Objects.checkFromIndexSize(0, ObjectKeys.STRIDE, out.length);
        for (int i = 0; i < ObjectKeys.STRIDE; i++) {
            out[i] = (byte) (hashes[slot * WORDS + i / Long.BYTES] >>> (8 * (i % Long.BYTES)));
        }
    }

    /** Calls with the slot of each resident object, in no order. */
    public void forEachResident(IntConsumer consumer) {
        forEach(ObjectState.RESIDENT, consumer);
    }

    /** Calls with the slot of each object in a state, in no order. */
    public void forEach(ObjectState state, IntConsumer consumer) {
        for (int slot = 0; slot < usedSlots; slot++) {
            if (state(slot) == state) {
                consumer.accept(slot);
            }
        }
    }

    /** Returns the number of objects in any state. */
    public int size() {
        return size;
    }

    /** Returns the number of live leases over all objects. */
    public long leaseCount() {
        return leaseCount;
    }

    private int takeSlot() {
        if (firstFree != NONE) {
            int slot = firstFree;
            firstFree = spaces[slot];
            return slot;
        }
        if (usedSlots == states.length) {
            growSlots();
        }
        return usedSlots++;
    }

    private void growSlots() {
        int slots = states.length + Math.max(INITIAL_SLOTS, states.length / 2);
        hashes = Arrays.copyOf(hashes, WORDS * slots);
        spaces = Arrays.copyOf(spaces, slots);
        states = Arrays.copyOf(states, slots);
        linked = Arrays.copyOf(linked, slots);
        leases = Arrays.copyOf(leases, slots);
        epochs = Arrays.copyOf(epochs, slots);
        lengths = Arrays.copyOf(lengths, slots);
        checksums = Arrays.copyOf(checksums, slots);
        if (2 * slots > buckets.length) {
            rehash(2 * buckets.length);
        }
    }

    private void rehash(int length) {
        int[] old = buckets;
        buckets = new int[length];
        for (int entry : old) {
            if (entry != 0) {
                int bucket = bucket(hashes[(entry - 1) * WORDS], spaces[entry - 1]);
                while (buckets[bucket] != 0) {
                    bucket = (bucket + 1) & (length - 1);
                }
                buckets[bucket] = entry;
            }
        }
    }

    private void unlink(int slot) {
        int mask = buckets.length - 1;
        int hole = bucket(hashes[slot * WORDS], spaces[slot]);
        while (buckets[hole] != slot + 1) {
            hole = (hole + 1) & mask;
        }
        for (int next = (hole + 1) & mask; buckets[next] != 0; next = (next + 1) & mask) {
            int home = bucket(hashes[(buckets[next] - 1) * WORDS], spaces[buckets[next] - 1]);
            if (((next - home) & mask) >= ((next - hole) & mask)) {
                buckets[hole] = buckets[next];
                hole = next;
            }
        }
        buckets[hole] = 0;
        linked[slot] = false;
    }

    private int bucket(long firstWord, int space) {
        long mixed = (firstWord ^ space * 0x9E3779B97F4A7C15L) * 0xD6E8FEB86659FD93L;
        return (int) (mixed >>> 32) & (buckets.length - 1);
    }

    private boolean matches(int slot, ObjectKeys keys, int i, long first) {
        int at = slot * WORDS;
        return hashes[at] == first
                && spaces[slot] == keys.spaceId()
                && hashes[at + 1] == keys.word(i, 1)
                && hashes[at + 2] == keys.word(i, 2)
                && hashes[at + 3] == keys.word(i, 3);
    }

    private boolean sameKey(int a, int b) {
        return spaces[a] == spaces[b]
                && Arrays.equals(hashes, a * WORDS, a * WORDS + WORDS, hashes, b * WORDS, b * WORDS + WORDS);
    }

    private void require(int slot, ObjectState expected) {
        if (state(slot) != expected) {
            throw new IllegalStateException("slot " + slot + " must be " + expected + ", is " + state(slot));
        }
    }
}
