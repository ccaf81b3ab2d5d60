package io.kvtier.bindings.cuda;

/**
 * A device's memory.
 *
 * @param free bytes that are free now, for all processes
 * @param total bytes of it
 */
public record MemoryInfo(long free, long total) {}
