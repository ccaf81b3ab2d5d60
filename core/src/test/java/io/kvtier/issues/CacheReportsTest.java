package io.kvtier.issues;

import static io.kvtier.PatternKv.CHUNK;
import static io.kvtier.PatternKv.computed;
import static io.kvtier.PatternKv.config;
import static io.kvtier.PatternKv.prompt;
import static io.kvtier.PatternKv.records;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvtier.KvCache;
import io.kvtier.KvCacheConfig;
import io.kvtier.PatternKv;
import io.kvtier.PrefixLease;
import io.kvtier.RequestScope;
import io.kvtier.Retrieved;
import io.kvtier.Stored;
import io.kvtier.layout.ElementType;
import io.kvtier.layout.KvFormat;
import io.kvtier.layout.KvLayout;
import io.kvtier.object.CacheIdentity;
import io.kvtier.object.ChunkHash;
import io.kvtier.object.KeySpace;
import io.kvtier.object.ObjectKeys;
import io.kvtier.policy.EvictionPolicy;
import io.kvtier.store.MemoryStatus;
import io.kvtier.store.StorageConfig;
import io.kvtier.store.StorageManager;
import io.kvtier.tier.FileTierConfig;
import io.kvtier.tier.StoreOutcome;
import io.kvtier.tier.TierException;
import io.kvtier.tier.TierStatus;
import io.kvtier.tier.Tiers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reports about what a cache promises and what it gives, and about identities. */
class CacheReportsTest {
    @TempDir
    Path folder;

    /** LMCache#4133, #1094, #1467, #1379: a lookup promises what an eviction takes away. */
    @Test
    void leasedPrefixSurvivesEvictionAndUnleasedEndsContiguously() throws TierException {
        try (KvCache cache = KvCache.open(config(4).build());
                PatternKv kv = computed(prompt(3 * CHUNK, 1))) {
            kv.store(cache);
            try (PrefixLease lease = cache.lookup(kv.tokens())) {
                storeOthers(cache, 20);
                kv.clear();
                assertThat(cache.retrieve(lease, kv.kv(), kv.slots()).tokens()).isEqualTo(3 * CHUNK);
                kv.requirePrefix(3 * CHUNK);
            }
            storeOthers(cache, 2);
            assertThat(kv.retrieve(cache).tokens()).isEqualTo(2 * CHUNK);
            storeOthers(cache, 8);
            assertThat(kv.retrieve(cache).tokens()).isZero();
        }
    }

    /** LMCache#4525, #4508, #3640: repeated lookups leave a hole that is never stored. */
    @Test
    void lookupsBeforeAStoreChangeNothing() throws TierException {
        try (KvCache cache = KvCache.open(config(16, folder).build());
                PatternKv kv = computed(prompt(5 * CHUNK, 1))) {
            cache.store(kv.tokens(), CHUNK, kv.kv(), kv.slots(), RequestScope.DEFAULT);
            for (int length = 0; length <= 5 * CHUNK; length++) {
                cache.lookup(kv.tokens(), length, RequestScope.DEFAULT).close();
                cache.lookup(kv.tokens(), length, RequestScope.DEFAULT).close();
            }
            assertThat(kv.store(cache)).isEqualTo(new Stored(4, 1, 0));
            assertThat(cache.status().tiers().getFirst().storedBytes()).isEqualTo(5 * PatternKv.OBJECT_BYTES);
            assertThat(kv.retrieve(cache).tokens()).isEqualTo(5 * CHUNK);
        }
    }

    /** LMCache#4405, #2420, #1313: a file vanishes between index and read. */
    @Test
    void vanishedFileIsAMiss() throws IOException {
        try (KvCache cache = KvCache.open(config(1, folder).build());
                PatternKv kv = computed(prompt(CHUNK, 1))) {
            kv.store(cache);
            storeOthers(cache, 1);
            for (Path record : records(folder)) {
                Files.delete(record);
            }
            assertThat(kv.retrieve(cache)).isEqualTo(new Retrieved(0, 0, 0));
            TierStatus tier = cache.status().tiers().getFirst();
            assertThat(tier.missing()).isEqualTo(1);
            assertThat(tier.objects()).isEqualTo(1);
            assertThat(tier.leases()).isZero();
            MemoryStatus memory = cache.status().memory();
            assertThat(memory.staged() + memory.leases()).isZero();
            assertThat(memory.objects() + memory.free()).isEqualTo(1);
        }
    }

    /** LMCache#5151, #5249: a prompt of exactly so many chunks. */
    @Test
    void everyLengthAroundAChunkIsCountedRight() throws TierException {
        for (int stored : new int[] {0, CHUNK, 3 * CHUNK}) {
            for (int length : new int[] {0, 1, CHUNK - 1, 3 * CHUNK - 1, 3 * CHUNK, 3 * CHUNK + 1}) {
                try (KvCache cache = KvCache.open(config(8).build());
                        PatternKv kv = computed(prompt(length, 1))) {
                    int first = Math.min(stored, length);
                    cache.store(kv.tokens(), first, kv.kv(), kv.slots(), RequestScope.DEFAULT);
                    assertThat(kv.retrieve(cache).tokens()).isEqualTo(first / CHUNK * CHUNK);
                    kv.compute(0);
                    int chunks = length / CHUNK;
                    assertThat(kv.store(cache)).isEqualTo(new Stored(chunks - first / CHUNK, first / CHUNK, 0));
                    assertThat(kv.retrieve(cache).tokens()).isEqualTo(chunks * CHUNK);
                }
            }
        }
    }

    /** LMCache#5069, #5070, #2938, #3042; Rapid-MLX#194: names that run together or leave the folder. */
    @Test
    void oddNamesStayApartAndInside() throws IOException {
        List<String> texts = List.of(
                "a", "a/b", "a\\b", "a@b", "a@@b", "..", "../..", "/", "-", "a-b", "a--b", "a\nb", "%2F", "%", "A");
        Set<KeySpace> spaces = new HashSet<>();
        for (String one : texts) {
            for (String two : texts) {
                spaces.add(space(identity(one, two, "", PatternKv.LAYOUT), "", Map.of()));
                spaces.add(space(identity(one, "", two, PatternKv.LAYOUT), "", Map.of()));
            }
            spaces.add(space(identity("a", "", "", PatternKv.LAYOUT), one, Map.of()));
            spaces.add(space(identity("a", "", "", PatternKv.LAYOUT), "", Map.of(one, "")));
        }
        Path root = folder.resolve("cache");
        try (StorageManager manager = open(root)) {
            spaces.forEach(space -> store(manager, space));
        }
        assertThat(records(root)).hasSameSizeAs(spaces);
        assertThat(Tiers.keySpaces(root)).isEqualTo(spaces);
        try (Stream<Path> files = Files.list(folder)) {
            assertThat(files).containsExactly(root);
        }
    }

    /** vllm#55904, #55907, #56772; sglang#33268, #36420, #24758, #10969: the key leaves something out. */
    @Test
    void eachPartOfTheIdentityCounts() throws TierException {
        KvLayout layout = PatternKv.LAYOUT;
        List<CacheIdentity> identities = new ArrayList<>(List.of(
                identity("m", "", "", layout),
                identity("n", "", "", layout),
                identity("m", "r", "", layout),
                identity("m", "", "r", layout),
                new CacheIdentity("m", "", "", "other", 4, CHUNK, layout, 2),
                new CacheIdentity("m", "", "", "scheme", 5, CHUNK, layout, 2),
                new CacheIdentity("m", "", "", "scheme", 4, CHUNK / 2, layout, 2),
                new CacheIdentity("m", "", "", "scheme", 4, CHUNK, layout, 3)));
        for (KvLayout other : List.of(
                KvLayout.keyValue(ElementType.BF16, 2, 1, 4),
                KvLayout.keyValue(ElementType.F16, 1, 2, 4),
                KvLayout.keyValue(ElementType.F16, 2, 2, 2),
                KvLayout.keyValue(ElementType.F16, 2, 4, 1),
                KvLayout.latent(ElementType.F16, 2, 8),
                new KvLayout(KvFormat.KEY_VALUE, ElementType.F16, 2, 1, 4, 2),
                KvLayout.opaque(32))) {
            identities.add(identity("m", "", "", other));
        }
        List<KeySpace> spaces = new ArrayList<>();
        identities.forEach(identity -> spaces.add(space(identity, "", Map.of())));
        KeySpace first = spaces.getFirst();
        spaces.add(new KeySpace(first.identity(), 1, 0, KeySpace.ALL_LAYERS, "", Map.of()));
        spaces.add(new KeySpace(first.identity(), 0, 0, 0, "", Map.of()));
        spaces.add(space(first.identity(), "s", Map.of()));
        spaces.add(space(first.identity(), "", Map.of("t", "s")));
        requireApart(spaces);
    }

    /** The same by the facade's settings: another configuration finds nothing in the folder. */
    @Test
    void anotherConfigurationFindsNothing() throws TierException {
        try (KvCache cache = KvCache.open(config(4, folder).build());
                PatternKv kv = computed(prompt(CHUNK, 1))) {
            kv.store(cache);
        }
        for (KvCacheConfig.Builder other : List.of(
                config(4, folder).modelRevision("2"),
                config(4, folder).adapterName("lora"),
                config(4, folder).rank(0, 2),
                config(4, folder).rank(1, 2),
                config(4, folder).chunkTokens(CHUNK / 2),
                config(4, folder).layout(KvLayout.keyValue(ElementType.BF16, 2, 1, 4)))) {
            try (KvCache cache = KvCache.open(other.build());
                    PrefixLease lease = cache.lookup(prompt(CHUNK, 1))) {
                assertThat(lease.tokens()).isZero();
            }
        }
        try (KvCache cache = KvCache.open(config(4, folder).build());
                PrefixLease lease = cache.lookup(prompt(CHUNK, 1))) {
            assertThat(lease.tokens()).isEqualTo(CHUNK);
        }
    }

    /** LMCache#2878, vllm#44097: another tenant's salt, through the facade, also after a restart. */
    @Test
    void anotherSaltFindsNothingInMemoryOrOnDisk() throws TierException {
        RequestScope mine = RequestScope.ofSalt("mine");
        for (int run = 0; run < 2; run++) {
            try (KvCache cache = KvCache.open(config(4, folder).build());
                    PatternKv kv = computed(prompt(CHUNK, 1))) {
                for (RequestScope other : List.of(RequestScope.DEFAULT, RequestScope.ofSalt("other"))) {
                    try (PrefixLease lease = cache.lookup(kv.tokens(), CHUNK, other)) {
                        assertThat(lease.tokens()).isZero();
                    }
                }
                Stored expected = new Stored(1, 0, 0);
                assertThat(cache.store(kv.tokens(), CHUNK, kv.kv(), kv.slots(), mine))
                        .isEqualTo(expected);
                try (PrefixLease lease = cache.lookup(kv.tokens(), CHUNK, mine)) {
                    assertThat(lease.tokens()).isEqualTo(CHUNK);
                }
                assertThat(cache.status().tiers().getFirst().objects()).isEqualTo(1);
                assertThat(cache.status().memory().leases()).isZero();
            }
        }
    }

    private void requireApart(List<KeySpace> spaces) throws TierException {
        try (StorageManager manager = open(folder)) {
            for (KeySpace space : spaces) {
                assertThat(manager.contains(key(manager, space), 0))
                        .as("%s", space)
                        .isFalse();
                store(manager, space);
            }
        }
        try (StorageManager manager = open(folder)) {
            assertThat(manager.tierStatus().getFirst().recovered()).isEqualTo(spaces.size());
            for (KeySpace space : spaces) {
                assertThat(manager.contains(key(manager, space), 0))
                        .as("%s", space)
                        .isTrue();
            }
        }
    }

    private static void storeOthers(KvCache cache, int count) {
        for (int seed = 100; seed < 100 + count; seed++) {
            try (PatternKv other = computed(prompt(CHUNK, seed))) {
                other.store(cache);
            }
        }
    }

    private static StorageManager open(Path root) throws TierException {
        return StorageManager.open(
                new StorageConfig(128, 4, EvictionPolicy.Kind.LRU, List.of(FileTierConfig.in(root))));
    }

    private static void store(StorageManager manager, KeySpace space) {
        assertThat(manager.store(key(manager, space), 0, 1, object -> object.fill((byte) 1)))
                .isEqualTo(StoreOutcome.STORED);
    }

    private static ObjectKeys key(StorageManager manager, KeySpace space) {
        ObjectKeys keys = manager.keySpaces().keys(space);
        keys.add(ChunkHash.of(
                Arrays.copyOf(new byte[] {1, 2, 3, 4}, space.identity().hashBytes())));
        return keys;
    }

    private static CacheIdentity identity(String model, String revision, String adapter, KvLayout layout) {
        return new CacheIdentity(model, revision, adapter, "scheme", 4, CHUNK, layout, 2);
    }

    private static KeySpace space(CacheIdentity identity, String salt, Map<String, String> tags) {
        return new KeySpace(identity, 0, 0, KeySpace.ALL_LAYERS, salt, tags);
    }
}
