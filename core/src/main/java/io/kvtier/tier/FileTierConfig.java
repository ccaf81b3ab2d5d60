package io.kvtier.tier;

import io.kvtier.policy.EvictionPolicy;
import java.nio.file.Path;
import java.util.Objects;

/**
 * Settings of a file tier.
 *
 * @param folder where the records lie; made if it is missing
 * @param maxBytes capacity in bytes, headers included
 * @param maxObjects capacity in objects
 * @param policy which object goes first when the tier is full
 */
public record FileTierConfig(Path folder, long maxBytes, long maxObjects, EvictionPolicy.Kind policy) {
    /**
     * Checks the settings.
     *
     * @throws IllegalArgumentException if a capacity is below 1
     */
    public FileTierConfig {
        Objects.requireNonNull(folder, "folder");
        Objects.requireNonNull(policy, "policy");
        if (folder.toString().isEmpty()) {
            throw new IllegalArgumentException("the folder of a file tier must have a name, got an empty path");
        }
        requirePositive("maxBytes", maxBytes);
        requirePositive("maxObjects", maxObjects);
    }

    /** Returns a tier in a folder with LRU and no cap but the device's. */
    public static FileTierConfig in(Path folder) {
        return new FileTierConfig(folder, Long.MAX_VALUE, Long.MAX_VALUE, EvictionPolicy.Kind.LRU);
    }

    /** Returns these settings with another capacity in bytes. */
    public FileTierConfig withMaxBytes(long bytes) {
        return new FileTierConfig(folder, bytes, maxObjects, policy);
    }

    /** Returns these settings with another capacity in objects. */
    public FileTierConfig withMaxObjects(long objects) {
        return new FileTierConfig(folder, maxBytes, objects, policy);
    }

    /** Returns these settings with another policy. */
    public FileTierConfig withPolicy(EvictionPolicy.Kind kind) {
        return new FileTierConfig(folder, maxBytes, maxObjects, kind);
    }

    private static void requirePositive(String name, long value) {
        if (value < 1) {
            throw new IllegalArgumentException(name + " must be at least 1, got " + value);
        }
    }
}
