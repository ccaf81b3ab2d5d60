package io.kvtier.store;

import io.kvtier.memory.Crc32c;
import io.kvtier.object.KeySpaces;
import io.kvtier.object.ObjectKeys;
import io.kvtier.tier.FileTierConfig;
import io.kvtier.tier.LoadOutcome;
import io.kvtier.tier.StoreOutcome;
import io.kvtier.tier.TierAdapter;
import io.kvtier.tier.TierException;
import io.kvtier.tier.TierStatus;
import io.kvtier.tier.Tiers;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

/**
 * Memory over the tiers below it: objects are stored in memory and written through to every tier; look-ups ask memory
 * first, then each tier. Safe for all threads.
 */
public final class StorageManager implements AutoCloseable {
    private static final Logger LOG = LogManager.getLogger(StorageManager.class);

    private final KeySpaces spaces;
    private final MemoryTier memory;
    private final List<TierAdapter> tiers;
    private final OperationGate gate = new OperationGate();

    private StorageManager(KeySpaces spaces, MemoryTier memory, List<TierAdapter> tiers) {
        this.spaces = spaces;
        this.memory = memory;
        this.tiers = List.copyOf(tiers);
    }

    /**
     * Reserves the memory and opens the tiers.
     *
     * @throws TierException if a tier cannot be opened; those before it are closed again
     */
    public static StorageManager open(StorageConfig config) throws TierException {
        KeySpaces spaces = new KeySpaces();
        List<TierAdapter> tiers = new ArrayList<>();
        try {
            for (FileTierConfig tier : config.tiers()) {
                tiers.add(Tiers.open(tier, spaces));
            }
            MemoryTier memory = new MemoryTier(
                    config.objectBytes(),
                    config.memoryObjects(),
                    config.memoryPolicy().create());
            return new StorageManager(spaces, memory, tiers);
        } catch (TierException | RuntimeException | Error e) {
            tiers.forEach(TierAdapter::close);
            throw e;
        }
    }

    /** Returns the registry that keys for this manager come from. */
    public KeySpaces keySpaces() {
        return spaces;
    }

    /**
     * Takes leases on the longest leading run of objects that are there, each in the first tier that has it. Changes
     * neither order nor place of anything.
     *
     * @param keys the objects asked for, in order
     * @param leases receives the leases; must hold none
     * @return the length of the run
     * @throws IllegalStateException if the manager is closed or {@code leases} still holds something
     */
    public int lookup(ObjectKeys keys, ObjectLeases leases) {
        leases.begin(this);
        gate.enter();
        try {
            for (int i = 0; i < keys.size() && leaseOne(keys, i, leases); i++) {}
            return leases.size();
        } finally {
            gate.exit();
        }
    }

    /**
     * Copies a leased object into the caller's memory, wherever it lies, and leaves it there.
     *
     * @param destination must be as long as the object; undefined if the result is false
     * @return false if the object turned out to be lost
     * @throws IllegalArgumentException if the destination is not as long as the object
     */
    public boolean read(ObjectLeases leases, int index, MemorySegment destination) {
        long lease = leases.lease(index, this);
        int tier = leases.tier(index);
        gate.enter();
        try {
            if (tier != ObjectLeases.MEMORY) {
                return tiers.get(tier - 1).load(lease, destination) == LoadOutcome.LOADED;
            }
            MemorySegment object = memory.segment(lease);
            if (object.byteSize() != destination.byteSize()) {
                throw new IllegalArgumentException(
                        "the object has " + object.byteSize() + " bytes, the destination " + destination.byteSize());
            }
            destination.copyFrom(object);
            return true;
        } finally {
            gate.exit();
        }
    }

    /** Returns the bytes of a leased object, wherever it lies. */
    public long length(ObjectLeases leases, int index) {
        long lease = leases.lease(index, this);
        int tier = leases.tier(index);
        return tier == ObjectLeases.MEMORY
                ? memory.length(lease)
                : tiers.get(tier - 1).length(lease);
    }

    /** Brings a leased object up into memory, if it is not there, and moves the lease to it. */
    public Promotion promote(ObjectKeys keys, ObjectLeases leases, int index) {
        long lease = leases.lease(index, this);
        int tier = leases.tier(index);
        if (tier == ObjectLeases.MEMORY) {
            return Promotion.IN_MEMORY;
        }
        gate.enter();
        try {
            TierAdapter adapter = tiers.get(tier - 1);
            long inMemory = memory.lease(keys, index);
            if (inMemory == MemoryTier.NO_LEASE) {
                int slot = memory.stage(keys, index, adapter.length(lease));
                if (slot == MemoryTier.NO_SPACE) {
                    return Promotion.NO_SPACE;
                }
                inMemory = load(adapter, lease, keys, index, slot);
            }
            if (inMemory == MemoryTier.NO_LEASE) {
                return Promotion.LOST;
            }
            leases.replace(index, ObjectLeases.MEMORY, inMemory);
            adapter.release(lease);
            return Promotion.IN_MEMORY;
        } finally {
            gate.exit();
        }
    }

    /**
     * Returns the bytes of a leased object that is in memory; they are valid until the lease is closed.
     *
     * @throws IllegalStateException if the object is not in memory: promote it first
     */
    public MemorySegment segment(ObjectLeases leases, int index) {
        return memory.segment(memoryLease(leases, index));
    }

    /**
     * Compares a leased object in memory with its checksum. If they differ, the object is no longer found.
     *
     * @throws IllegalStateException if the object is not in memory: promote it first
     */
    public boolean verify(ObjectLeases leases, int index) {
        return memory.verify(memoryLease(leases, index));
    }

    /**
     * Stores an object in memory and in every tier below, as far as it is not there; where it is, it counts as used. It
     * has settled when the call returns.
     *
     * @param keys holds the key
     * @param index index of the key
     * @param length bytes of the object
     * @param writer writes the object, if it is not in memory
     * @return what became of it in memory; tiers count theirs
     * @throws IllegalArgumentException if the object is larger than a page of memory
     * @throws IllegalStateException if the manager is closed
     */
    public StoreOutcome store(ObjectKeys keys, int index, long length, ObjectWriter writer) {
        gate.enter();
        try {
            StoreOutcome outcome = StoreOutcome.PRESENT;
            long lease = memory.lease(keys, index);
            if (lease == MemoryTier.NO_LEASE) {
                outcome = StoreOutcome.STORED;
                lease = write(keys, index, length, writer);
            } else {
                memory.touch(keys, index);
            }
            if (lease == MemoryTier.NO_LEASE) {
                return StoreOutcome.NO_SPACE;
            }
            try {
                writeThrough(keys, index, lease);
            } finally {
                memory.release(lease);
            }
            return outcome;
        } finally {
            gate.exit();
        }
    }

    /**
     * Adds a lease on an object in memory to those that are held; without one, the next store may evict it.
     *
     * @return false if it is not in memory
     */
    public boolean hold(ObjectKeys keys, int index, ObjectLeases leases) {
        leases.belongTo(this);
        gate.enter();
        try {
            long lease = memory.lease(keys, index);
            if (lease != MemoryTier.NO_LEASE) {
                leases.add(ObjectLeases.MEMORY, lease);
            }
            return lease != MemoryTier.NO_LEASE;
        } finally {
            gate.exit();
        }
    }

    /** Marks an object as used in every tier that has it. */
    public void touch(ObjectKeys keys, int index) {
        gate.enter();
        try {
            memory.touch(keys, index);
            for (TierAdapter tier : tiers) {
                tier.touch(keys, index);
            }
        } finally {
            gate.exit();
        }
    }

    /** Returns whether any tier has an object, and changes nothing. */
    public boolean contains(ObjectKeys keys, int index) {
        gate.enter();
        try {
            return memory.contains(keys, index) || tiers.stream().anyMatch(tier -> tier.contains(keys, index));
        } finally {
            gate.exit();
        }
    }

    /** Returns the state of the memory tier. */
    public MemoryStatus memoryStatus() {
        return memory.status();
    }

    /** Returns the state of each tier below memory. */
    public List<TierStatus> tierStatus() {
        return tiers.stream().map(TierAdapter::status).toList();
    }

    /** Returns the tiers below memory, the fastest first; this manager owns them. */
    public List<TierAdapter> tiers() {
        return tiers;
    }

    /**
     * Waits for running operations, up to 30 seconds, and closes the tiers. Memory under leases that are still open is
     * freed when they are closed. Closing twice does nothing.
     */
    @Override
    public void close() {
        switch (gate.close()) {
            case EMPTY -> {
                tiers.forEach(TierAdapter::close);
                memory.close();
            }
            // Whoever is still inside may write: the tiers and their locks stay.
            case BUSY -> LOG.warn("closed with operations still running; tiers and memory are kept for them");
            case AGAIN -> LOG.debug("closed before");
        }
    }

    /**
     * Checks that leases can be used.
     *
     * @throws IllegalStateException if the manager or the leases are closed, or they are of another manager
     */
    public void requireOpen(ObjectLeases leases) {
        leases.requireOwner(this);
        gate.enter();
        gate.exit();
    }

    void release(int tier, long lease) {
        if (tier == ObjectLeases.MEMORY) {
            memory.release(lease);
        } else {
            tiers.get(tier - 1).release(lease);
        }
    }

    private boolean leaseOne(ObjectKeys keys, int i, ObjectLeases leases) {
        long lease = memory.lease(keys, i);
        if (lease != MemoryTier.NO_LEASE) {
            leases.add(ObjectLeases.MEMORY, lease);
            return true;
        }
        for (int tier = 0; tier < tiers.size(); tier++) {
            lease = tiers.get(tier).lease(keys, i);
            if (lease != TierAdapter.NO_LEASE) {
                leases.add(tier + 1, lease);
                return true;
            }
        }
        return false;
    }

    private long memoryLease(ObjectLeases leases, int index) {
        long lease = leases.lease(index, this);
        if (leases.tier(index) != ObjectLeases.MEMORY) {
            throw new IllegalStateException(
                    "object " + index + " is in tier " + leases.tier(index) + ", not in memory; promote it first");
        }
        return lease;
    }

    /** Loads an object into a stage; returns a lease on it in memory, or none if it is lost. */
    private long load(TierAdapter adapter, long lease, ObjectKeys keys, int index, int slot) {
        boolean committed = false;
        try {
            MemorySegment destination = memory.staged(slot, adapter.length(lease));
            if (adapter.load(lease, destination) != LoadOutcome.LOADED) {
                return MemoryTier.NO_LEASE;
            }
            committed = true;
            return memory.commit(keys, index, slot, destination.byteSize(), adapter.checksum(lease));
        } finally {
            if (!committed) {
                memory.abort(slot);
            }
        }
    }

    /** Writes an object into memory; returns a lease on it, or none if there is no space. */
    private long write(ObjectKeys keys, int index, long length, ObjectWriter writer) {
        int slot = memory.stage(keys, index, length);
        if (slot == MemoryTier.NO_SPACE) {
            return MemoryTier.NO_LEASE;
        }
        boolean committed = false;
        try {
            MemorySegment object = memory.staged(slot, length);
            writer.write(object);
            int checksum = Crc32c.of(object);
            committed = true;
            return memory.commit(keys, index, slot, length, checksum);
        } finally {
            if (!committed) {
                memory.abort(slot);
            }
        }
    }

    private void writeThrough(ObjectKeys keys, int index, long lease) {
        for (TierAdapter tier : tiers) {
            if (!tier.touch(keys, index)) {
                tier.store(keys, index, memory.segment(lease), memory.checksum(lease));
            }
        }
    }
}
