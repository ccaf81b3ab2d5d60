package io.kvtier.store;

import io.kvtier.policy.EvictionPolicy;
import io.kvtier.tier.FileTierConfig;
import java.util.List;
import java.util.Objects;

/**
 * Settings of a storage manager.
 *
 * @param objectBytes bytes of the largest object
 * @param memoryObjects capacity of the memory tier in objects
 * @param memoryPolicy which object leaves memory first
 * @param tiers tiers below memory, the fastest first
 */
public record StorageConfig(
        long objectBytes, int memoryObjects, EvictionPolicy.Kind memoryPolicy, List<FileTierConfig> tiers) {
    /** Most tiers below memory. */
    public static final int MAX_TIERS = 64;

    /**
     * Checks the settings and copies the list.
     *
     * @throws IllegalArgumentException if a size is below 1 or there are too many tiers
     */
    public StorageConfig {
        Objects.requireNonNull(memoryPolicy, "memoryPolicy");
        tiers = List.copyOf(tiers);
        if (objectBytes < 1) {
            throw new IllegalArgumentException("objectBytes must be at least 1, got " + objectBytes);
        }
        if (memoryObjects < 1) {
            throw new IllegalArgumentException("memory must hold at least 1 object, got " + memoryObjects);
        }
        if (tiers.size() > MAX_TIERS) {
            throw new IllegalArgumentException("at most " + MAX_TIERS + " tiers below memory, got " + tiers.size());
        }
    }

    /** Returns the memory that an object takes: pages begin at multiples of 64 bytes, a cache line. */
    public static long pageBytes(long objectBytes) {
        return Math.ceilDiv(objectBytes, 64L) * 64;
    }
}
