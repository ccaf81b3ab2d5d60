package io.kvtier.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FreePagesTest {
    private static final int ROUNDS = 200_000;

    /** Nobody has both pages and everybody has one: a refusal must come, whatever the summaries say. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aSearchInAnEmptyPoolEnds() throws Exception {
        FreePages free = new FreePages(2);
        inParallel(3, thread -> {
            long[] indexes = new long[2];
            for (int round = 0; round < ROUNDS; round++) {
                int taken = free.take(indexes, 0, 2);
                for (int i = 0; i < taken; i++) {
                    free.give((int) indexes[i]);
                }
            }
            return null;
        });
        assertThat(free.count()).isEqualTo(2);
        assertThat(free.take(new long[2], 0, 2)).isEqualTo(2);
    }

    /** Each thread gives back what it took before it takes again, so there is always a page for it. */
    @ParameterizedTest
    @ValueSource(ints = {3, 200, 5_000, 300_000})
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void aPageThatIsFreeDuringACallIsFound(int pages) throws Exception {
        FreePages free = new FreePages(pages);
        int threads = 3;
        for (int taken = threads; taken < pages; taken++) {
            assertThat(free.take()).isNotEqualTo(FreePages.NONE);
        }
        List<Integer> refusals = inParallel(threads, thread -> {
            int refused = 0;
            for (int round = 0; round < ROUNDS; round++) {
                int page = free.take();
                if (page == FreePages.NONE) {
                    refused++;
                } else {
                    free.give(page);
                }
            }
            return refused;
        });
        assertThat(refusals).containsOnly(0);
        assertThat(free.count()).isEqualTo(threads);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 63, 64, 65, 4_096, 4_097, 270_000})
    void agreesWithASetOfBits(int pages) {
        FreePages free = new FreePages(pages);
        BitSet model = new BitSet(pages);
        model.set(0, pages);
        long seed = System.nanoTime();
        Random random = new Random(seed);
        long[] batch = new long[100];
        for (int step = 0; step < 3_000; step++) {
            String at = "seed " + seed + ", step " + step;
            switch (random.nextInt(4)) {
                case 0 -> {
                    int count = 1 + random.nextInt(batch.length);
                    int taken = free.take(batch, 0, count);
                    assertThat(taken).as(at).isEqualTo(Math.min(count, model.cardinality()));
                    for (int i = 0; i < taken; i++) {
                        remove(model, (int) batch[i], at);
                    }
                }
                case 1 -> {
                    int count = 1 + random.nextInt(130);
                    int first = free.takeRun(count);
                    assertThat(first != FreePages.NONE).as(at).isEqualTo(longestRun(model) >= count);
                    for (int page = first; first != FreePages.NONE && page < first + count; page++) {
                        remove(model, page, at);
                    }
                }
                default -> {
                    for (int i = 0; i < 80; i++) {
                        int page = model.nextClearBit(random.nextInt(pages));
                        if (page < pages) {
                            free.give(page);
                            model.set(page);
                        }
                    }
                }
            }
            if (step % 64 == 0) {
                assertThat(free.count()).as(at).isEqualTo(model.cardinality());
                assertThat(free.longestRun()).as(at).isEqualTo(longestRun(model));
            }
        }
    }

    private static void remove(BitSet model, int page, String at) {
        assertThat(model.get(page)).as(at + ", page " + page).isTrue();
        model.clear(page);
    }

    private static int longestRun(BitSet model) {
        int longest = 0;
        for (int first = model.nextSetBit(0); first >= 0; ) {
            int end = model.nextClearBit(first);
            longest = Math.max(longest, end - first);
            first = model.nextSetBit(end);
        }
        return longest;
    }

    private interface Work<T> {
        T run(int thread) throws Exception;
    }

    private static <T> List<T> inParallel(int threads, Work<T> work) throws Exception {
        ExecutorService executor = Executors.newFixedThreadPool(threads, task -> {
            Thread thread = new Thread(task, "free-pages");
            thread.setDaemon(true);
            return thread;
        });
        CyclicBarrier start = new CyclicBarrier(threads);
        List<Callable<T>> calls = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int thread = i;
            calls.add(() -> {
                start.await();
                return work.run(thread);
            });
        }
        try {
            List<T> results = new ArrayList<>();
            for (Future<T> result : executor.invokeAll(calls, 50, TimeUnit.SECONDS)) {
                results.add(result.get());
            }
            return results;
        } finally {
            executor.shutdownNow();
        }
    }
}
