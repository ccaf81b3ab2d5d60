package io.kvtier;

/**
 * What became of the full chunks of a prompt.
 *
 * @param stored chunks that are new in memory
 * @param present chunks that were there
 * @param refused chunks for which memory had no space; nothing was stored of them
 */
public record Stored(int stored, int present, int refused) {}
