package io.kvtier.tier.file;

import io.kvtier.tier.FileTierConfig;
import io.kvtier.tier.TierStatus;
import org.jspecify.annotations.Nullable;

/** The adapter's counters and its fault; guarded like the table. */
final class TierCounters {
    long recovered;
    long evictions;
    long storedBytes;
    long readBytes;
    long refused;
    long missing;
    long corrupt;
    long foreign;
    long failures;

    @Nullable
    String fault;

    TierStatus status(String name, FileTierConfig config, RecordTable table, Quarantine quarantine) {
        return new TierStatus(
                name,
                table.residents(),
                table.bytes() + quarantine.bytes(),
                config.maxObjects(),
                config.maxBytes(),
                table.leases(),
                recovered,
                evictions,
                storedBytes,
                readBytes,
                refused,
                missing,
                corrupt,
                quarantine.size(),
                foreign,
                failures,
                fault);
    }
}
