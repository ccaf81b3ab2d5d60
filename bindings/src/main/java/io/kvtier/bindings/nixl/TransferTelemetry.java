package io.kvtier.bindings.nixl;

import java.time.Duration;

/**
 * What NIXL measured of a transfer that is done.
 *
 * @param startNanos when it was posted, on the clock of {@link System#nanoTime}, to the microsecond
 * @param post how long posting took
 * @param total how long it took until the poll that found it done
 * @param bytes the bytes that it was asked to move, not those moved
 * @param descriptors its descriptors, after adjacent ones were merged
 */
public record TransferTelemetry(long startNanos, Duration post, Duration total, long bytes, long descriptors) {}
