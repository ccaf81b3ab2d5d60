package io.kvtier.tier;

import io.kvtier.object.KeySpace;
import io.kvtier.object.ObjectKeys;
import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * A tier below memory. Once open, it never throws for what its device does: a fault is an outcome and a degraded state.
 * It checks identity, length and checksum of everything that it reads, and keeps its capacity at every moment. All
 * methods may be called by any thread and block only as long as their own I/O.
 */
public interface TierAdapter extends AutoCloseable {
    /** What {@link #lease} returns when the object is not there. */
    long NO_LEASE = -1;

    /** Returns a short name for messages and counters. */
    String name();

    /**
     * Writes an object, if it is not there, and evicts others first if it must.
     *
     * @param keys holds the key
     * @param i index of the key
     * @param payload the object's bytes
     * @param checksum CRC-32C of the bytes
     */
    StoreOutcome store(ObjectKeys keys, int i, MemorySegment payload, int checksum);

    /** Returns whether an object can be found, and changes nothing. */
    boolean contains(ObjectKeys keys, int i);

    /** Marks an object as used; returns false if it is not there. */
    boolean touch(ObjectKeys keys, int i);

    /**
     * Takes a lease on an object: until it is given back, the object is not evicted.
     *
     * @return the lease, or {@link #NO_LEASE} if the object is not there
     */
    long lease(ObjectKeys keys, int i);

    /**
     * Returns the payload bytes of a leased object.
     *
     * @throws IllegalStateException if the lease is not live
     */
    long length(long lease);

    /**
     * Returns the CRC-32C of a leased object's payload, which {@link #load} compares with.
     *
     * @throws IllegalStateException if the lease is not live
     */
    int checksum(long lease);

    /**
     * Reads a leased object.
     *
     * @param lease a live lease
     * @param destination receives the bytes; must be as long as the object. Undefined unless {@link LoadOutcome#LOADED}
     * @throws IllegalArgumentException if the destination is not as long as the object
     * @throws IllegalStateException if the lease is not live
     */
    LoadOutcome load(long lease, MemorySegment destination);

    /**
     * Gives a lease back. Leases on one object are alike: giving one back twice while others are open takes one of theirs.
     *
     * @throws IllegalStateException if no lease is left on the object
     */
    void release(long lease);

    /** Deletes an object, at once or when its last lease is given back; returns false if it is not there. */
    boolean delete(ObjectKeys keys, int i);

    /** Returns the key spaces that objects of this tier are in. */
    Set<KeySpace> keySpaces();

    /** Returns capacity, use, counters and health. */
    TierStatus status();

    /**
     * Closes the tier; what it holds stays for the next opening. No operation may be running. Closing twice does
     * nothing; leases may still be given back.
     */
    @Override
    void close();
}
