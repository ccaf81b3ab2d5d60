package io.kvtier;

import static io.kvtier.PatternKv.CHUNK;
import static io.kvtier.PatternKv.computed;
import static io.kvtier.PatternKv.config;
import static io.kvtier.PatternKv.prompt;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.kvtier.layout.KvLayout;
import org.junit.jupiter.api.Test;

class RetrieveStateTest {
    @Test
    void closedLeaseIsRefused() throws Exception {
        try (KvCache cache = KvCache.open(config(4).build());
                PatternKv kv = computed(prompt(CHUNK, 1))) {
            kv.store(cache);
            PrefixLease lease = cache.lookup(kv.tokens());
            lease.close();
            assertThatIllegalStateException().isThrownBy(() -> cache.retrieve(lease, kv.kv(), kv.slots()));
        }
    }

    @Test
    void closedCacheCopiesNothing() throws Exception {
        KvCache cache = KvCache.open(config(4).build());
        try (PatternKv kv = computed(prompt(CHUNK, 1))) {
            kv.store(cache);
            kv.clear();
            try (PrefixLease lease = cache.lookup(kv.tokens())) {
                cache.close();
                assertThatIllegalStateException().isThrownBy(() -> cache.retrieve(lease, kv.kv(), kv.slots()));
            }
            kv.requirePrefix(0);
        }
    }

    @Test
    void closedCacheRefusesAnEmptyLease() throws Exception {
        KvCache cache = KvCache.open(config(4).build());
        try (PatternKv kv = computed(prompt(CHUNK, 1));
                PrefixLease lease = cache.lookup(kv.tokens())) {
            cache.close();
            assertThatIllegalStateException().isThrownBy(() -> cache.retrieve(lease, kv.kv(), kv.slots()));
        }
    }

    @Test
    void memoryBytesAreKept() throws Exception {
        try (KvCache cache = KvCache.open(KvCacheConfig.builder("m")
                .layout(KvLayout.opaque(65))
                .chunkTokens(1)
                .memoryBytes(65 * 1000)
                .build())) {
            assertThat(cache.status().memory().slabBytes()).isLessThanOrEqualTo(65 * 1000);
        }
    }

    @Test
    void promptLargerThanMemoryLeavesItsBeginning() throws Exception {
        try (KvCache cache = KvCache.open(config(2).build());
                PatternKv kv = computed(prompt(5 * CHUNK, 1))) {
            kv.store(cache);
            assertThat(kv.retrieve(cache).tokens()).isPositive();
        }
    }

    @Test
    void negativeTokenAfterTheLastChunkIsRefused() throws Exception {
        try (KvCache cache = KvCache.open(config(2).build())) {
            org.assertj.core.api.Assertions.assertThatIllegalArgumentException()
                    .isThrownBy(() -> cache.lookup(new int[] {1, 2, 3, 4, -1}));
        }
    }
}
