package io.kvtier;

import io.kvtier.store.MemoryStatus;
import io.kvtier.tier.TierStatus;
import java.util.List;

/**
 * The state of a cache at one moment.
 *
 * @param memory the memory tier
 * @param tiers the tiers below, in the order they are asked
 */
public record CacheStatus(MemoryStatus memory, List<TierStatus> tiers) {
    /** Copies the list. */
    public CacheStatus {
        tiers = List.copyOf(tiers);
    }
}
