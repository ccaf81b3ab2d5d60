package io.kvtier.trace;

import org.jspecify.annotations.Nullable;

/**
 * What a replay found.
 *
 * @param format format of the trace
 * @param requests requests replayed
 * @param blockReferences blocks of all requests, repeated ones counted each time
 * @param distinctBlocks different blocks
 * @param inputTokens tokens of all prompts
 * @param hitBlocks blocks found, in leading runs
 * @param hitTokens tokens of these blocks
 * @param l1HitBlocks those found in memory
 * @param l2HitBlocks those found on disk
 * @param l1Evictions blocks that left memory for others
 * @param l2Evictions blocks that left the disk tier for others
 * @param verifiedBlocks blocks read back and compared
 * @param badBlocks blocks whose bytes were not the right ones
 * @param lostBlocks blocks that were found but could not be read; they count as misses
 * @param refusedBlocks stores for which memory or the disk tier had no space
 * @param l2Failures reads and writes of the disk tier that failed
 * @param l2Fault why the disk tier is degraded at the end, or null
 * @param storedBytes payload bytes written to the disk tier
 * @param readBytes payload bytes read back from both tiers
 * @param l2ReadBytes those of them from the disk tier
 * @param warmBlocks blocks that the disk tier held at the start
 * @param residentBlocks blocks in memory plus blocks on disk at the end
 * @param skippedLines bad lines of the trace that were left out
 * @param wallSeconds time of the replay, reading the trace not included
 * @param lookupP50Micros median time of a lookup of all blocks of a request
 * @param lookupP99Micros 99th percentile of it
 * @param heapBytes Java heap in use after the replay
 * @param slabBytes memory reserved for payloads outside the heap
 */
public record ReplayResult(
        String format,
        long requests,
        long blockReferences,
        long distinctBlocks,
        long inputTokens,
        long hitBlocks,
        long hitTokens,
        long l1HitBlocks,
        long l2HitBlocks,
        long l1Evictions,
        long l2Evictions,
        long verifiedBlocks,
        long badBlocks,
        long lostBlocks,
        long refusedBlocks,
        long l2Failures,
        @Nullable String l2Fault,
        long storedBytes,
        long readBytes,
        long l2ReadBytes,
        long warmBlocks,
        long residentBlocks,
        long skippedLines,
        double wallSeconds,
        double lookupP50Micros,
        double lookupP99Micros,
        long heapBytes,
        long slabBytes) {

    /** Returns the share of hit blocks in all block references, 0 to 1. */
    public double hitRate() {
        return blockReferences == 0 ? 0 : (double) hitBlocks / blockReferences;
    }
}
