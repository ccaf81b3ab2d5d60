package io.kvtier;

import static io.kvtier.PatternKv.CHUNK;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvtier.memory.NativeMemory;
import io.kvtier.store.MemoryStatus;
import io.kvtier.tier.FileTierConfig;
import io.kvtier.tier.TierStatus;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Several engines on one small cache: whatever comes back is right, and in the end nothing is held. */
@Timeout(60)
class ConcurrencyTest {
    private static final int THREADS = 4;
    private static final int MEMORY_OBJECTS = 4;
    private static final int TIER_OBJECTS = 9;
    private static final long RECORD_BYTES = 8192;
    private static final long TIER_BYTES = TIER_OBJECTS * RECORD_BYTES;

    @TempDir
    Path folder;

    private final long seed = new Random().nextLong();

    @Test
    void everyRowThatComesBackIsRight() throws Exception {
        try (KvCache cache = open(true)) {
            runAll(random -> requests(cache, random, 150));
            MemoryStatus memory = cache.status().memory();
            assertThat(memory.evictions()).as(seedText()).isPositive();
            assertThat(memory.corrupt()).as(seedText()).isZero();
            requireQuiet(cache);
        }
        requireRestart();
    }

    @Test
    void closeMayComeAtAnyTime() throws Exception {
        for (int round = 0; round < 5; round++) {
            KvCache cache = open(false);
            CountDownLatch running = new CountDownLatch(20 * THREADS);
            try (ExecutorService closer = Executors.newSingleThreadExecutor()) {
                Future<?> closed = closer.submit(() -> {
                    running.await();
                    cache.close();
                    return null;
                });
                runAll(random -> requestsUntilClosed(cache, random, running));
                closed.get();
            }
            requireQuiet(cache);
            assertThat(NativeMemory.live()).as(seedText()).isEmpty();
        }
        requireRestart();
    }

    /** What one thread does. */
    private interface Work {
        void run(Random random);
    }

    private KvCache open(boolean verify) throws Exception {
        FileTierConfig tier = FileTierConfig.in(folder).withMaxBytes(TIER_BYTES).withMaxObjects(TIER_OBJECTS);
        return KvCache.open(
                PatternKv.config(MEMORY_OBJECTS).tier(tier).verifyMemory(verify).build());
    }

    private void runAll(Work work) throws InterruptedException {
        List<Callable<Void>> tasks = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Random random = new Random(seed + i);
            tasks.add(() -> {
                work.run(random);
                return null;
            });
        }
        try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
            for (Future<Void> result : threads.invokeAll(tasks)) {
                result.get();
            }
        } catch (ExecutionException e) {
            throw new AssertionError(seedText(), e.getCause());
        }
    }

    private void requests(KvCache cache, Random random, int count) {
        for (int i = 0; i < count; i++) {
            request(cache, random);
            requireCaps(cache.status());
        }
    }

    private static void requestsUntilClosed(KvCache cache, Random random, CountDownLatch running) {
        while (true) {
            running.countDown();
            try {
                request(cache, random);
            } catch (IllegalStateException closed) {
                assertThat(closed).hasMessageContaining("closed");
                return;
            }
        }
    }

    private static void request(KvCache cache, Random random) {
        try (PatternKv kv = PatternKv.empty(prompt(random))) {
            Retrieved retrieved = kv.retrieve(cache);
            kv.compute(retrieved.tokens());
            Stored stored = kv.store(cache);
            assertThat(stored.stored() + stored.present() + stored.refused()).isEqualTo(kv.tokens().length / CHUNK);
        }
    }

    /** A walk down a tree with two branches at each chunk, so that prompts share prefixes. */
    private static int[] prompt(Random random) {
        int[] tokens = new int[random.nextInt(5 * CHUNK + 1)];
        for (int i = 0; i < tokens.length; i++) {
            tokens[i] = i % CHUNK == 0 ? random.nextInt(2) : i;
        }
        return tokens;
    }

    private void requireCaps(CacheStatus status) {
        assertThat(status.memory().objects()).as(seedText()).isLessThanOrEqualTo(MEMORY_OBJECTS);
        for (TierStatus tier : status.tiers()) {
            assertThat(tier.bytes()).as(seedText()).isLessThanOrEqualTo(TIER_BYTES);
            assertThat(tier.objects()).as(seedText()).isLessThanOrEqualTo(TIER_OBJECTS);
        }
    }

    private void requireQuiet(KvCache cache) {
        CacheStatus status = cache.status();
        MemoryStatus memory = status.memory();
        assertThat(memory.leases() + memory.staged()).as(seedText()).isZero();
        assertThat(memory.objects() + memory.free()).as(seedText()).isEqualTo(memory.capacity());
        requireCaps(status);
        for (TierStatus tier : status.tiers()) {
            assertThat(tier.leases()).as(seedText()).isZero();
            assertThat(tier.missing() + tier.corrupt() + tier.failures())
                    .as(seedText())
                    .isZero();
            assertThat(tier.bytes()).as(seedText()).isEqualTo(RECORD_BYTES * tier.objects());
        }
    }

    /** Opens the folder again: only whole records are there, within the caps. */
    private void requireRestart() throws Exception {
        try (KvCache cache = open(true)) {
            TierStatus tier = cache.status().tiers().getFirst();
            assertThat(tier.recovered()).as(seedText()).isPositive();
            assertThat(tier.corrupt() + tier.foreign()).as(seedText()).isZero();
            requests(cache, new Random(seed), 20);
            requireQuiet(cache);
        }
    }

    private String seedText() {
        return "seed " + seed;
    }
}
