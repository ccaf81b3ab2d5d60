package io.kvtier.store;

/**
 * The memory tier's state at one moment. Counters run from the opening.
 *
 * @param objects objects that can be found
 * @param capacity objects that there is room for
 * @param free objects that could be stored without evicting any
 * @param staged objects being written
 * @param leases live leases
 * @param slabBytes memory reserved for objects
 * @param evictions objects that went to make room
 * @param refused stores for which there was no space
 * @param corrupt objects whose bytes changed in memory
 */
public record MemoryStatus(
        long objects,
        long capacity,
        long free,
        long staged,
        long leases,
        long slabBytes,
        long evictions,
        long refused,
        long corrupt) {}
