package io.kvtier.object;

import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntConsumer;

/**
 * A tier's index: key to slot, and per slot state, leases, length and checksum. A slot is a small number under which the
 * tier may keep more. One thread at a time, under the tier's lock, stages, links, publishes, retires, restores, detaches
 * and removes; all threads may meanwhile find objects, read what the index says of them, and take and give back leases.
 */
public final class ObjectIndex {
    /*
     * An object costs no Java object: 56 bytes of its record, and 6 to 12 of the table that finds it. Leases are counted in
     * the record's status by compare-and-set, so a lease needs no lock: it succeeds only while the status says resident, in
     * the epoch in which the key was compared. Who removes an object does so by compare-and-set too, from a status without
     * leases: of a last release and a removal, or of two that would remove, one is first and the other sees it.
     *
     * A lease carries its slot's epoch, which goes up when the slot is given to another object: a lease of an earlier epoch
     * can release nothing.
     */
    /** What look-ups return when there is no such object. */
    public static final int NONE = -1;

    /** What {@link #lease(ObjectKeys, int)} returns when the object is not resident. */
    public static final long NO_LEASE = -1;

    /** Keys that are looked at together; enough to hide the memory's latency, few enough to stay in the first cache. */
    private static final int BATCH = 64;

    private final ObjectRecords records = new ObjectRecords();
    private final SlotTable slots = new SlotTable(records);
    private final LongAdder leaseCount = new LongAdder();
    private int size;

    /** Creates an empty index. */
    public ObjectIndex() {}

    /** Returns the slot of a key's object in any state, or {@link #NONE}; unlinked stages are not found. */
    public int find(ObjectKeys keys, int i) {
        return slots.find(keys, i);
    }

    /** Returns the slot of a key's object if it is resident, else {@link #NONE}. */
    public int findResident(ObjectKeys keys, int i) {
        int slot = slots.find(keys, i);
        return slot == NONE || residentStatus(slot, keys, i) == 0 ? NONE : slot;
    }

    /**
     * Finds the slots of several keys' resident objects, faster than one by one: the processor waits for many at a time.
     *
     * @param keys the keys
     * @param from the first of them
     * @param count number of keys
     * @param found receives the slot of each in order from element 0 on, {@link #NONE} where there is none
     * @throws IndexOutOfBoundsException if there are fewer keys, or {@code found} is shorter
     */
    public void findResident(ObjectKeys keys, int from, int count, int[] found) {
        Objects.checkFromIndexSize(from, count, keys.size());
        Objects.checkFromIndexSize(0, count, found.length);
        for (int done = 0; done < count; done += BATCH) {
            int end = Math.min(count, done + BATCH);
            for (int i = done; i < end; i++) {
                found[i] = slots.guess(keys, from + i);
            }
            for (int i = done; i < end; i++) {
                if (found[i] == NONE || residentStatus(found[i], keys, from + i) == 0) {
                    found[i] = findResident(keys, from + i);
                }
            }
        }
    }

    /**
     * Takes leases on the longest leading run of resident objects.
     *
     * @param keys the keys
     * @param from the first of them
     * @param leases receives the leases, from element 0 on; as many keys are looked at as it is long, and as there are
     * @return the number of leases taken
     */
    public int leaseRun(ObjectKeys keys, int from, long[] leases) {
        int count = Math.min(leases.length, keys.size() - from);
        int guessed = 0;
        for (int i = 0; i < count; i++) {
            if (i == guessed) {
                guessed = Math.min(count, i + BATCH);
                for (int ahead = i; ahead < guessed; ahead++) {
                    leases[ahead] = slots.guess(keys, from + ahead);
                }
            }
            int guess = (int) leases[i];
            leases[i] = guess == NONE ? NO_LEASE : lease(guess, keys, from + i);
            if (leases[i] == NO_LEASE) {
                leases[i] = lease(keys, from + i);
            }
            if (leases[i] == NO_LEASE) {
                return i;
            }
        }
        return count;
    }

    /**
     * Takes a lease on a key's object.
     *
     * @return the lease, to be given back once with {@link #release}, or {@link #NO_LEASE} if it is not resident
     */
    public long lease(ObjectKeys keys, int i) {
        int slot = slots.find(keys, i);
        return slot == NONE ? NO_LEASE : lease(slot, keys, i);
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
        int slot = records.stage(keys, i);
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
        long status = require(slot, ObjectState.STAGED);
        if (isLinked(status)) {
            throw new IllegalStateException("slot " + slot + " is already linked");
        }
        if (!slots.enter(slot)) {
            return false;
        }
        change(slot, ObjectState.STAGED, ObjectState.STAGED, ObjectRecords.LINKED);
        return true;
    }

    /**
     * Makes a staged, linked object readable.
     *
     * @throws IllegalStateException if it is not staged and linked
     */
    public void publish(int slot, long length, int checksum) {
        if (!isLinked(require(slot, ObjectState.STAGED))) {
            throw new IllegalStateException("slot " + slot + " is staged but not linked");
        }
        records.complete(slot, length, checksum);
        change(slot, ObjectState.STAGED, ObjectState.RESIDENT, 0);
    }

    /**
     * Hides a resident object from readers; its leases stay valid.
     *
     * @return the number of leases on it when it was hidden; there will be no more
     * @throws IllegalStateException if it is not resident
     */
    public int retire(int slot) {
        return ObjectRecords.leases(change(slot, ObjectState.RESIDENT, ObjectState.EVICTING, 0));
    }

    /**
     * Takes a hidden object out from under its key, so that another can be linked there; its leases stay valid.
     *
     * @throws IllegalStateException if it is not evicting
     */
    public void detach(int slot) {
        if (isLinked(require(slot, ObjectState.EVICTING))) {
            unlink(slot);
        }
    }

    /**
     * Makes a hidden object readable again.
     *
     * @throws IllegalStateException if it is not evicting
     */
    public void restore(int slot) {
        change(slot, ObjectState.EVICTING, ObjectState.RESIDENT, 0);
    }

    /**
     * Forgets an object and frees its slot.
     *
     * @throws IllegalStateException if it has leases or is absent
     */
    public void remove(int slot) {
        long status = records.status(slot);
        while (isRemovable(status) && !records.changeStatus(slot, status, ObjectRecords.freed(status))) {
            status = records.status(slot);
        }
        if (!isRemovable(status)) {
            throw new IllegalStateException("slot " + slot + " cannot be removed: state " + ObjectRecords.state(status)
                    + ", leases " + ObjectRecords.leases(status));
        }
        if (isLinked(status)) {
            slots.remove(slot);
        }
        records.free(slot);
        size--;
    }

    /**
     * Takes a lease on a resident object.
     *
     * @return the lease, to be given back once with {@link #release}
     * @throws IllegalStateException if it is not resident
     */
    public long lease(int slot) {
        long status = require(slot, ObjectState.RESIDENT);
        while (!records.changeStatus(slot, status, leased(slot, status))) {
            status = require(slot, ObjectState.RESIDENT);
        }
        leaseCount.increment();
        return lease(slot, status);
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
        long status = liveStatus(lease);
        while (!records.changeStatus(slot, status, status - 1)) {
            status = liveStatus(lease);
        }
        leaseCount.decrement();
        return ObjectRecords.leases(status - 1);
    }

    /**
     * Checks that a lease can still stand for its object.
     *
     * @throws IllegalStateException if its object is gone
     */
    public void requireLive(long lease) {
        liveStatus(lease);
    }

    /** Returns the slot that a lease is on. */
    public static int slot(long lease) {
        return (int) lease;
    }

    /** Returns the state of a slot's object. */
    public ObjectState state(int slot) {
        return ObjectRecords.state(records.status(slot));
    }

    /** Returns the number of leases on a slot's object. */
    public int leases(int slot) {
        return ObjectRecords.leases(records.status(slot));
    }

    /** Returns the payload bytes of a resident object. */
    public long length(int slot) {
        return records.length(slot);
    }

    /** Returns the CRC-32C of a resident object's payload. */
    public int checksum(int slot) {
        return records.checksum(slot);
    }

    /** Returns the number of a slot's key space. */
    public int spaceId(int slot) {
        return records.spaceId(slot);
    }

    /** Copies the chunk hash of a slot's object to the first 32 bytes of an array. */
    public void copyHash(int slot, byte[] out) {
        Objects.checkFromIndexSize(0, ObjectKeys.STRIDE, out.length);
        for (int i = 0; i < ObjectKeys.STRIDE; i++) {
            out[i] = (byte) (records.hashWord(slot, i / Long.BYTES) >>> (8 * (i % Long.BYTES)));
        }
    }

    /** Calls with the slot of each resident object, in no order. */
    public void forEachResident(IntConsumer consumer) {
        forEach(ObjectState.RESIDENT, consumer);
    }

    /** Calls with the slot of each object in a state, in no order. */
    public void forEach(ObjectState state, IntConsumer consumer) {
        for (int slot = 0; slot < records.usedSlots(); slot++) {
            if (state(slot) == state) {
                consumer.accept(slot);
            }
        }
    }

    /** Returns the number of objects in any state; for the thread that may change the index. */
    public int size() {
        return size;
    }

    /** Returns the number of live leases over all objects; while others take and give back, one that was about right. */
    public long leaseCount() {
        return leaseCount.sum();
    }

    /** Returns the bytes of memory that the index takes. */
    public long bytes() {
        return records.bytes() + slots.bytes();
    }

    /** Takes a lease on a slot if it is a key's resident object. */
    private long lease(int slot, ObjectKeys keys, int i) {
        long status = residentStatus(slot, keys, i);
        while (status != 0) {
            if (records.changeStatus(slot, status, leased(slot, status))) {
                leaseCount.increment();
                return lease(slot, status);
            }
            status = residentStatus(slot, keys, i);
        }
        return NO_LEASE;
    }

    /** Returns a slot's status if it is a key's resident object, else 0, which is no such status. */
    private long residentStatus(int slot, ObjectKeys keys, int i) {
        long status = records.status(slot);
        while (ObjectRecords.isResident(status) && isLinked(status) && records.isOf(slot, keys, i)) {
            VarHandle.loadLoadFence();
            long again = records.status(slot);
            if (ObjectRecords.epoch(again) == ObjectRecords.epoch(status) && ObjectRecords.isResident(again)) {
                return again;
            }
            status = again;
        }
        return 0;
    }

    private long liveStatus(long lease) {
        int slot = slot(lease);
        boolean known = slot >= 0 && slot < records.usedSlots();
        long status = known ? records.status(slot) : 0;
        if (ObjectRecords.leases(status) == 0 || (int) ObjectRecords.epoch(status) != (int) (lease >>> 32)) {
            throw new IllegalStateException("lease of slot " + slot + " in epoch " + (int) (lease >>> 32)
                    + " is not live"
                    + (known
                            ? "; the slot is in epoch " + (int) ObjectRecords.epoch(status) + " with "
                                    + ObjectRecords.leases(status) + " leases"
                            : ""));
        }
        return status;
    }

    private static long leased(int slot, long status) {
        if (ObjectRecords.leases(status) == ObjectRecords.MOST_LEASES) {
            throw new IllegalStateException(
                    "slot " + slot + " already has " + ObjectRecords.MOST_LEASES + " leases, the most there can be");
        }
        return status + 1;
    }

    private static long lease(int slot, long status) {
        return ObjectRecords.epoch(status) << 32 | slot;
    }

    private void unlink(int slot) {
        slots.remove(slot);
        ObjectState state = ObjectState.EVICTING;
        long status = require(slot, state);
        while (!records.changeStatus(slot, status, status & ~ObjectRecords.LINKED)) {
            status = require(slot, state);
        }
    }

    /** Changes a slot's state and sets bits of its status; returns the status before. */
    private long change(int slot, ObjectState from, ObjectState to, long set) {
        long status = require(slot, from);
        while (!records.changeStatus(slot, status, ObjectRecords.withState(status, to) | set)) {
            status = require(slot, from);
        }
        return status;
    }

    /** Returns a slot's status, in which it is in a state. */
    private long require(int slot, ObjectState expected) {
        long status = records.status(slot);
        if (ObjectRecords.state(status) != expected) {
            throw new IllegalStateException(
                    "slot " + slot + " must be " + expected + ", is " + ObjectRecords.state(status));
        }
        return status;
    }

    private static boolean isRemovable(long status) {
        return ObjectRecords.state(status) != ObjectState.ABSENT && ObjectRecords.leases(status) == 0;
    }

    private static boolean isLinked(long status) {
        return (status & ObjectRecords.LINKED) != 0;
    }
}
