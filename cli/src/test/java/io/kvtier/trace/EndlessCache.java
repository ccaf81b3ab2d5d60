package io.kvtier.trace;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/** What a cache that never evicts would serve of a trace, worked out the plainest way. */
final class EndlessCache {
    long hitBlocks;
    long hitTokens;
    long requestsWithHit;
    long requestsWhollyHit;
    double meanHitShare;
    long blocksUsedOnce;
    long mostUses;

    EndlessCache(Trace trace) {
        Set<Integer> seen = new HashSet<>();
        Map<Integer, Integer> uses = new HashMap<>();
        for (int request = 0; request < trace.requests(); request++) {
            int hits = leadingHits(trace, request, seen);
            count(trace, request, hits);
            for (int i = 0; i < trace.blocks(request); i++) {
                seen.add(trace.block(request, i));
                uses.merge(trace.block(request, i), 1, Integer::sum);
            }
        }
        meanHitShare /= trace.requests();
        blocksUsedOnce = uses.values().stream().filter(u -> u == 1).count();
        mostUses = uses.values().stream().mapToInt(u -> u).max().orElse(0);
    }

    private void count(Trace trace, int request, int hits) {
        hitBlocks += hits;
        hitTokens += trace.hitTokens(request, hits);
        requestsWithHit += hits > 0 ? 1 : 0;
        requestsWhollyHit += trace.hitTokens(request, hits) == trace.inputLength(request) ? 1 : 0;
        meanHitShare += (double) trace.hitTokens(request, hits) / trace.inputLength(request);
    }

    private static int leadingHits(Trace trace, int request, Set<Integer> seen) {
        int hits = 0;
        while (hits < trace.blocks(request) && seen.contains(trace.block(request, hits))) {
            hits++;
        }
        return hits;
    }

    /** Returns the input lengths at 0, 50, 90, 99 and 100 % of the sorted requests. */
    static long[] inputQuantiles(Trace trace) {
        long[] sorted = IntStream.range(0, trace.requests())
                .mapToLong(trace::inputLength)
                .sorted()
                .toArray();
        return DoubleStream.of(0, 0.5, 0.9, 0.99, 1)
                .mapToLong(share -> sorted[(int) Math.round(share * (sorted.length - 1))])
                .toArray();
    }
}
