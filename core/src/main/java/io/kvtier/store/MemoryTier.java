package io.kvtier.store;

import io.kvtier.memory.Crc32c;
import io.kvtier.memory.PagePool;
import io.kvtier.memory.Slab;
import io.kvtier.object.ObjectIndex;
import io.kvtier.object.ObjectKeys;
import io.kvtier.object.ObjectState;
import io.kvtier.policy.EvictionPolicy;
import java.lang.foreign.MemorySegment;
import java.util.function.IntPredicate;

/** L1: objects in pages of one slab. Safe for all threads. */
final class MemoryTier implements AutoCloseable {
    /*
     * The monitor guards index, order and counters; bytes are written and read outside it. A stage is a slot that is not
     * linked, so readers cannot find it and several writers may stage one key; the first commit links its slot and the
     * others are dropped. A lease keeps the page: victims have none, and a hidden object's page is freed with its last
     * lease. For the same reason the slab outlives close() until no lease or stage is left.
     */
    static final int NO_SPACE = -1;
    static final long NO_LEASE = -1;

    private final Slab slab;
    private final PagePool pool;
    private final long[] pages;
    private final ObjectIndex index = new ObjectIndex();
    private final EvictionPolicy policy;
    private final IntPredicate evictable = this::isUnleased;

    private boolean closed;
    private int residents;
    private int staged;
    private long evictions;
    private long refused;
    private long corrupt;

    MemoryTier(long objectBytes, int objects, EvictionPolicy policy) {
        long pageBytes = StorageConfig.pageBytes(objectBytes);
        this.slab = Slab.allocate(Math.multiplyExact(pageBytes, (long) objects));
        this.pool = new PagePool(slab, pageBytes);
        this.pages = new long[objects];
        this.policy = policy;
    }

    /** Takes a lease on a resident object, or returns {@link #NO_LEASE}. */
    synchronized long lease(ObjectKeys keys, int i) {
        int slot = index.findResident(keys, i);
        return slot == ObjectIndex.NONE || closed ? NO_LEASE : index.lease(slot);
    }

    synchronized boolean touch(ObjectKeys keys, int i) {
        int slot = index.findResident(keys, i);
        if (slot != ObjectIndex.NONE) {
            policy.touched(slot);
        }
        return slot != ObjectIndex.NONE;
    }

    synchronized boolean contains(ObjectKeys keys, int i) {
        return index.findResident(keys, i) != ObjectIndex.NONE;
    }

    /**
     * Takes a page for an object that the caller is going to write, evicting if it must.
     *
     * @return the stage's slot, to be committed or aborted, or {@link #NO_SPACE}
     */
    int stage(ObjectKeys keys, int i, long length) {
        if (length < 1 || length > pool.pageBytes()) {
            throw new IllegalArgumentException(
                    "an object must have from 1 to " + pool.pageBytes() + " bytes (a page), got " + length);
        }
        synchronized (this) {
            long page = pool.allocate();
            while (page == PagePool.NONE) {
                int victim = policy.victim(evictable);
                if (victim == ObjectIndex.NONE) {
                    refused++;
                    return NO_SPACE;
                }
                evictions++;
                hide(victim);
                free(victim);
                page = pool.allocate();
            }
            int slot = index.stage(keys, i);
            pages[slot] = page;
            staged++;
            return slot;
        }
    }

    /** Returns the memory of a stage of so many bytes. */
    MemorySegment staged(int slot, long length) {
        return slab.segment().asSlice(pool.offset(pages[slot]), length);
    }

    /**
     * Makes a stage readable, unless another writer of its key was first.
     *
     * @return a lease on the resident object of the key: this one or the first one
     */
    synchronized long commit(ObjectKeys keys, int i, int slot, long length, int checksum) {
        staged--;
        if (index.link(slot)) {
            index.publish(slot, length, checksum);
            policy.added(slot);
            residents++;
            return index.lease(slot);
        }
        free(slot);
        int first = index.findResident(keys, i);
        if (first == ObjectIndex.NONE) {
            freeSlabIfUnused();
            return NO_LEASE;
        }
        return index.lease(first);
    }

    /** Drops a stage. */
    synchronized void abort(int slot) {
        staged--;
        free(slot);
        freeSlabIfUnused();
    }

    /** Returns a leased object's bytes, which nobody may change. */
    synchronized MemorySegment segment(long lease) {
        index.requireLive(lease);
        int slot = ObjectIndex.slot(lease);
        return slab.segment()
                .asSlice(pool.offset(pages[slot]), index.length(slot))
                .asReadOnly();
    }

    /** Returns a leased object's bytes in number. */
    synchronized long length(long lease) {
        index.requireLive(lease);
        return index.length(ObjectIndex.slot(lease));
    }

    /** Returns a leased object's checksum, as it was when the object was committed. */
    synchronized int checksum(long lease) {
        index.requireLive(lease);
        return index.checksum(ObjectIndex.slot(lease));
    }

    /** Compares a leased object's bytes with its checksum; if they differ, the object is no longer found. */
    boolean verify(long lease) {
        if (Crc32c.of(segment(lease)) == checksum(lease)) {
            return true;
        }
        synchronized (this) {
            int slot = ObjectIndex.slot(lease);
            corrupt++;
            if (index.state(slot) == ObjectState.RESIDENT) {
                hide(slot);
            }
            return false;
        }
    }

    synchronized void release(long lease) {
        int slot = ObjectIndex.slot(lease);
        if (index.release(lease) == 0 && index.state(slot) == ObjectState.EVICTING) {
            free(slot);
        }
        freeSlabIfUnused();
    }

    synchronized MemoryStatus status() {
        return new MemoryStatus(
                residents,
                pool.pages(),
                pool.free(),
                staged,
                index.leaseCount(),
                slab.byteSize(),
                evictions,
                refused,
                corrupt);
    }

    /** Takes no more objects and leases; the memory is freed when the last lease and stage are gone. */
    @Override
    public synchronized void close() {
        closed = true;
        freeSlabIfUnused();
    }

    private void hide(int slot) {
        policy.removed(slot);
        index.retire(slot);
        index.detach(slot);
        residents--;
    }

    private void free(int slot) {
        index.remove(slot);
        pool.free(pages[slot]);
    }

    private boolean isUnleased(int slot) {
        return index.leases(slot) == 0;
    }

    private void freeSlabIfUnused() {
        if (closed && index.leaseCount() == 0 && staged == 0) {
            slab.close();
        }
    }
}
