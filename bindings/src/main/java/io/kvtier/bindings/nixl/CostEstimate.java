package io.kvtier.bindings.nixl;

import java.time.Duration;

/**
 * What a backend expects a transfer to cost.
 *
 * @param duration how long it will take
 * @param margin how far off that may be
 */
public record CostEstimate(Duration duration, Duration margin) {}
