package io.kvtier;

import static io.kvtier.PatternKv.CHUNK;
import static io.kvtier.PatternKv.computed;
import static io.kvtier.PatternKv.config;
import static io.kvtier.PatternKv.empty;
import static io.kvtier.PatternKv.prompt;
import static io.kvtier.PatternKv.records;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.kvtier.layout.KvLayout;
import io.kvtier.store.MemoryStatus;
import io.kvtier.tier.TierException;
import io.kvtier.transfer.PagedKv;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KvCacheTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(ints = {0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 5 * CHUNK - 1, 5 * CHUNK, 5 * CHUNK + 1})
    void restoresAllFullChunks(int length) throws TierException {
        try (KvCache cache = KvCache.open(config(16).build());
                PatternKv kv = computed(prompt(length, 1))) {
            int chunks = length / CHUNK;
            assertThat(kv.retrieve(cache)).isEqualTo(new Retrieved(0, 0, 0));
            kv.compute(0);
            assertThat(kv.store(cache)).isEqualTo(new Stored(chunks, 0, 0));
            assertThat(kv.store(cache)).isEqualTo(new Stored(0, chunks, 0));
            assertThat(kv.retrieve(cache)).isEqualTo(new Retrieved(chunks * CHUNK, chunks * CHUNK, 0));
            requireQuiet(cache);
        }
    }

    @Test
    void lengthSaysHowManyTokensCount() throws TierException {
        int[] tokens = prompt(3 * CHUNK, 1);
        try (KvCache cache = KvCache.open(config(16).build());
                PatternKv kv = computed(tokens)) {
            cache.store(tokens, 3 * CHUNK - 1, kv.kv(), kv.slots(), RequestScope.DEFAULT);
            assertThat(kv.retrieve(cache).tokens()).isEqualTo(2 * CHUNK);
            try (PrefixLease lease = cache.lookup(tokens, CHUNK, RequestScope.DEFAULT)) {
                assertThat(lease.tokens()).isEqualTo(CHUNK);
            }
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> cache.lookup(tokens, tokens.length + 1, RequestScope.DEFAULT));
        }
    }

    @Test
    void promptsShareTheirCommonPrefix() throws TierException {
        int[] first = prompt(4 * CHUNK, 1);
        int[] second = first.clone();
        second[2 * CHUNK]++;
        try (KvCache cache = KvCache.open(config(16).build());
                PatternKv one = computed(first);
                PatternKv two = computed(second)) {
            one.store(cache);
            assertThat(two.retrieve(cache).tokens()).isEqualTo(2 * CHUNK);
            two.compute(2 * CHUNK);
            assertThat(two.store(cache)).isEqualTo(new Stored(2, 2, 0));
            assertThat(one.retrieve(cache).tokens()).isEqualTo(4 * CHUNK);
            assertThat(two.retrieve(cache).tokens()).isEqualTo(4 * CHUNK);
        }
    }

    @Test
    void scopesFindOnlyTheirOwn() throws TierException {
        List<RequestScope> scopes = List.of(
                RequestScope.DEFAULT,
                RequestScope.ofSalt("a"),
                RequestScope.ofSalt("b"),
                new RequestScope("", Map.of("a", "")),
                new RequestScope("", Map.of("a", "b")),
                new RequestScope("a", Map.of("a", "b")));
        try (KvCache cache = KvCache.open(config(16, folder).build());
                PatternKv kv = computed(prompt(CHUNK, 1))) {
            for (RequestScope scope : scopes) {
                try (PrefixLease lease = cache.lookup(kv.tokens(), CHUNK, scope)) {
                    assertThat(lease.tokens()).as("%s", scope).isZero();
                }
                assertThat(cache.store(kv.tokens(), CHUNK, kv.kv(), kv.slots(), scope))
                        .isEqualTo(new Stored(1, 0, 0));
            }
            assertThat(cache.status().tiers().getFirst().objects()).isEqualTo(scopes.size());
        }
    }

    @Test
    void orderOfTagsDoesNotMatter() throws TierException {
        try (KvCache cache = KvCache.open(config(16).build());
                PatternKv kv = computed(prompt(CHUNK, 1))) {
            RequestScope stored = new RequestScope("s", new java.util.LinkedHashMap<>(Map.of("x", "1", "y", "2")));
            RequestScope asked = new RequestScope("s", new java.util.TreeMap<>(Map.of("y", "2", "x", "1")));
            cache.store(kv.tokens(), CHUNK, kv.kv(), kv.slots(), stored);
            try (PrefixLease lease = cache.lookup(kv.tokens(), CHUNK, asked)) {
                assertThat(lease.tokens()).isEqualTo(CHUNK);
            }
        }
    }

    @Test
    void memorySmallerThanThePromptRestoresAllOfIt() throws TierException {
        try (KvCache cache = KvCache.open(config(2, folder).build());
                PatternKv kv = computed(prompt(7 * CHUNK, 1))) {
            assertThat(kv.store(cache)).isEqualTo(new Stored(7, 0, 0));
            for (int i = 0; i < 3; i++) {
                assertThat(kv.retrieve(cache).tokens()).isEqualTo(7 * CHUNK);
            }
            requireQuiet(cache);
        }
    }

    @Test
    void restartFindsEverything() throws TierException {
        int[] tokens = prompt(5 * CHUNK + 2, 1);
        storeAndClose(tokens);
        try (KvCache cache = KvCache.open(config(16, folder).build());
                PatternKv kv = empty(tokens)) {
            assertThat(cache.status().tiers().getFirst().recovered()).isEqualTo(5);
            assertThat(kv.retrieve(cache)).isEqualTo(new Retrieved(5 * CHUNK, 0, 5 * CHUNK));
            assertThat(kv.retrieve(cache)).isEqualTo(new Retrieved(5 * CHUNK, 5 * CHUNK, 0));
        }
    }

    @Test
    void deletedChunkEndsThePrefix() throws IOException {
        int[] tokens = prompt(5 * CHUNK, 1);
        Path third = recordOfChunk(2, tokens);
        try (KvCache cache = KvCache.open(config(16, folder).build());
                PatternKv kv = empty(tokens)) {
            Files.delete(third);
            requireTwoChunksThenRepair(cache, kv);
            assertThat(cache.status().tiers().getFirst().missing()).isEqualTo(1);
        }
    }

    @Test
    void damagedChunkEndsThePrefix() throws IOException {
        int[] tokens = prompt(5 * CHUNK, 1);
        Path third = recordOfChunk(2, tokens);
        try (KvCache cache = KvCache.open(config(16, folder).build());
                PatternKv kv = empty(tokens)) {
            byte[] record = Files.readAllBytes(third);
            record[record.length - 1] ^= 1;
            Files.write(third, record);
            requireTwoChunksThenRepair(cache, kv);
            assertThat(cache.status().tiers().getFirst().corrupt()).isEqualTo(1);
        }
    }

    @Test
    void fullyLeasedMemoryIsPassedBy() throws TierException {
        int[] tokens = prompt(3 * CHUNK, 1);
        storeAndClose(tokens);
        try (KvCache cache = KvCache.open(config(2, folder).build());
                PatternKv holder = computed(prompt(2 * CHUNK, 2));
                PatternKv other = computed(prompt(2 * CHUNK, 3));
                PatternKv kv = empty(tokens)) {
            holder.store(cache);
            try (PrefixLease held = cache.lookup(holder.tokens())) {
                assertThat(held.tokens()).isEqualTo(2 * CHUNK);
                assertThat(kv.retrieve(cache)).isEqualTo(new Retrieved(3 * CHUNK, 0, 3 * CHUNK));
                assertThat(other.store(cache)).isEqualTo(new Stored(0, 0, 2));
                assertThat(cache.retrieve(held, holder.kv(), holder.slots()).memoryTokens())
                        .isEqualTo(2 * CHUNK);
                holder.requirePrefix(2 * CHUNK);
            }
            requireQuiet(cache);
        }
    }

    @Test
    void lostChunkIsFoundPastLeasedMemoryToo() throws IOException {
        int[] tokens = prompt(3 * CHUNK, 1);
        Path second = recordOfChunk(1, tokens);
        try (KvCache cache = KvCache.open(config(1, folder).build());
                PatternKv holder = computed(prompt(CHUNK, 2));
                PatternKv kv = empty(tokens)) {
            holder.store(cache);
            Files.delete(second);
            try (PrefixLease held = cache.lookup(holder.tokens())) {
                assertThat(held.tokens()).isEqualTo(CHUNK);
                assertThat(kv.retrieve(cache).tokens()).isEqualTo(CHUNK);
            }
            requireQuiet(cache);
        }
    }

    @Test
    void wrongLayoutCarriesBothAndCopiesNothing() throws TierException {
        KvLayout wrong = KvLayout.opaque(PatternKv.LAYOUT.bytesPerToken());
        try (KvCache cache = KvCache.open(config(4).build());
                Arena arena = Arena.ofConfined();
                PatternKv kv = computed(prompt(CHUNK, 1))) {
            kv.store(cache);
            PagedKv other = PagedKv.allocate(wrong, 2, CHUNK, arena);
            try (PrefixLease lease = cache.lookup(kv.tokens())) {
                for (ThrowingCallable call : List.<ThrowingCallable>of(
                        () -> cache.retrieve(lease, other, kv.slots()),
                        () -> cache.store(prompt(CHUNK, 2), other, kv.slots()))) {
                    assertThatIllegalArgumentException()
                            .isThrownBy(call)
                            .withMessageContaining(wrong.toString())
                            .withMessageContaining(PatternKv.LAYOUT.toString());
                }
            }
            assertThat(other.plane(0, 0)
                            .mismatch(arena.allocate(other.plane(0, 0).byteSize())))
                    .isEqualTo(-1);
            assertThat(cache.status().memory().objects()).isEqualTo(1);
        }
    }

    @Test
    void slotOutOfRangeCarriesBothAndCopiesNothing() throws TierException {
        try (KvCache cache = KvCache.open(config(4).build());
                PatternKv kv = computed(prompt(2 * CHUNK, 1))) {
            kv.store(cache);
            kv.clear();
            long bound = kv.kv().slots();
            for (int wrong : new int[] {-1, (int) bound, Integer.MAX_VALUE}) {
                int[] slots = kv.slots().clone();
                slots[2 * CHUNK - 1] = wrong;
                requireRefused(cache, kv, slots, Integer.toString(wrong), Long.toString(bound));
            }
            int[] tooFew = Arrays.copyOf(kv.slots(), 2 * CHUNK - 1);
            requireRefused(cache, kv, tooFew, Integer.toString(tooFew.length), "0 to 7");
        }
    }

    @Test
    void negativeTokenIsRefused() throws TierException {
        int[] tokens = prompt(2 * CHUNK, 1);
        tokens[CHUNK + 1] = -7;
        try (KvCache cache = KvCache.open(config(4).build());
                PatternKv kv = computed(tokens)) {
            for (ThrowingCallable call : List.<ThrowingCallable>of(() -> cache.lookup(tokens), () -> kv.store(cache))) {
                assertThatIllegalArgumentException()
                        .isThrownBy(call)
                        .withMessageContaining("-7")
                        .withMessageContaining("5");
            }
            assertThat(cache.status().memory().objects()).isZero();
        }
    }

    @Test
    void changedByteInMemoryEndsThePrefix() throws Exception {
        try (KvCache cache = KvCache.open(config(8, folder).verifyMemory(true).build());
                PatternKv kv = computed(prompt(3 * CHUNK, 1))) {
            kv.store(cache);
            assertThat(kv.retrieve(cache).tokens()).isEqualTo(3 * CHUNK);
            MemoryFault.flipByte(cache, kv.tokens(), 1);
            assertThat(kv.retrieve(cache).tokens()).isEqualTo(CHUNK);
            assertThat(cache.status().memory().corrupt()).isEqualTo(1);
            requireQuiet(cache);
            assertThat(kv.retrieve(cache)).isEqualTo(new Retrieved(3 * CHUNK, 2 * CHUNK, CHUNK));
        }
    }

    @Test
    void closedCacheRefusesCalls() throws TierException {
        KvCache cache = KvCache.open(config(4, folder).build());
        try (PatternKv kv = computed(prompt(CHUNK, 1))) {
            kv.store(cache);
            cache.close();
            cache.close();
            assertThatIllegalStateException().isThrownBy(() -> cache.lookup(kv.tokens()));
            assertThatIllegalStateException().isThrownBy(() -> kv.store(cache));
            requireQuiet(cache);
        }
    }

    @Test
    void leaseOfAnotherCacheIsRefused() throws TierException {
        try (KvCache cache = KvCache.open(config(4).build());
                KvCache other = KvCache.open(config(4).build());
                PatternKv kv = computed(prompt(CHUNK, 1))) {
            kv.store(cache);
            kv.clear();
            try (PrefixLease lease = cache.lookup(kv.tokens())) {
                assertThatIllegalStateException().isThrownBy(() -> other.retrieve(lease, kv.kv(), kv.slots()));
                assertThat(lease.tokens()).isEqualTo(CHUNK);
            }
            kv.requirePrefix(0);
        }
    }

    @Test
    void leaseShowsWhereItsChunksAre() throws TierException {
        int[] tokens = prompt(2 * CHUNK, 1);
        storeAndClose(tokens);
        try (KvCache cache = KvCache.open(config(1, folder).build());
                PrefixLease lease = cache.lookup(tokens)) {
            assertThat(lease.chunks()).isEqualTo(2);
            assertThat(lease.tier(1)).isEqualTo(1);
            assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> lease.tier(2));
            assertThat(cache.status().tiers().getFirst().leases()).isEqualTo(2);
        }
    }

    private void storeAndClose(int... tokens) throws TierException {
        try (KvCache cache = KvCache.open(config(16, folder).build());
                PatternKv kv = computed(tokens)) {
            kv.store(cache);
        }
    }

    /** Stores a prompt chunk by chunk and returns the file that one of the chunks brought. */
    private Path recordOfChunk(int chunk, int... tokens) throws IOException {
        storeAndClose(Arrays.copyOf(tokens, chunk * CHUNK));
        Set<Path> before = records(folder);
        storeAndClose(Arrays.copyOf(tokens, (chunk + 1) * CHUNK));
        Set<Path> added = records(folder);
        added.removeAll(before);
        storeAndClose(tokens);
        assertThat(added).hasSize(1);
        return added.iterator().next();
    }

    private static void requireTwoChunksThenRepair(KvCache cache, PatternKv kv) {
        try (PrefixLease lease = cache.lookup(kv.tokens())) {
            assertThat(lease.tokens()).isEqualTo(5 * CHUNK);
            assertThat(cache.retrieve(lease, kv.kv(), kv.slots()).tokens()).isEqualTo(2 * CHUNK);
            assertThat(lease.tokens()).isEqualTo(2 * CHUNK);
            kv.requirePrefix(2 * CHUNK);
        }
        requireQuiet(cache);
        assertThat(kv.retrieve(cache).tokens()).isEqualTo(2 * CHUNK);
        kv.compute(2 * CHUNK);
        kv.store(cache);
        assertThat(kv.retrieve(cache).tokens()).isEqualTo(5 * CHUNK);
    }

    private static void requireRefused(KvCache cache, PatternKv kv, int[] slots, String wrong, String bound) {
        try (PrefixLease lease = cache.lookup(kv.tokens())) {
            for (ThrowingCallable call : List.<ThrowingCallable>of(
                    () -> cache.retrieve(lease, kv.kv(), slots),
                    () -> cache.store(prompt(2 * CHUNK, 9), kv.kv(), slots))) {
                assertThatExceptionOfType(IndexOutOfBoundsException.class)
                        .isThrownBy(call)
                        .withMessageContaining(wrong)
                        .withMessageContaining(bound);
            }
        }
        kv.requirePrefix(0);
        assertThat(cache.status().memory().objects()).isEqualTo(2);
    }

    private static void requireQuiet(KvCache cache) {
        MemoryStatus memory = cache.status().memory();
        assertThat(memory.leases() + memory.staged()).isZero();
        assertThat(memory.objects() + memory.free()).isEqualTo(memory.capacity());
        cache.status().tiers().forEach(tier -> assertThat(tier.leases()).isZero());
    }
}
