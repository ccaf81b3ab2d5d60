package io.kvtier.tier;

import org.jspecify.annotations.Nullable;

/**
 * A tier's state at one moment. Counters run from the opening of the tier.
 *
 * @param name the tier's name
 * @param objects objects that can be found
 * @param bytes bytes held, everything that counts against the capacity included
 * @param maxObjects capacity in objects
 * @param maxBytes capacity in bytes
 * @param leases live leases
 * @param recovered objects found at the start
 * @param evictions objects that went to make room
 * @param storedBytes payload bytes written
 * @param readBytes payload bytes read and found right
 * @param refused stores for which there was no space
 * @param missing objects that were indexed but gone
 * @param corrupt objects that were damaged or not what they should be
 * @param quarantined files in quarantine
 * @param foreign files of others that were found and left alone
 * @param failures reads and writes that failed
 * @param fault why the tier is degraded, or null if it is healthy
 */
public record TierStatus(
        String name,
        long objects,
        long bytes,
        long maxObjects,
        long maxBytes,
        long leases,
        long recovered,
        long evictions,
        long storedBytes,
        long readBytes,
        long refused,
        long missing,
        long corrupt,
        long quarantined,
        long foreign,
        long failures,
        @Nullable String fault) {

    /** Returns whether the tier's last operation that touched its device failed. */
    public boolean degraded() {
        return fault != null;
    }
}
