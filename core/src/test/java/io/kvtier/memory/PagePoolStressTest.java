package io.kvtier.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Many threads on few pages: at each moment a page has one owner, and what the owner wrote stays. */
class PagePoolStressTest {
    private static final int THREADS = 6;
    private static final int PAGES = 12;
    private static final int STEPS = 30_000;
    private static final int BATCH = 4;

    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void aPageHasOneOwnerAtATime(long seed) throws Exception {
        try (Slab slab = Slab.allocate(PAGES * 64);
                ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
            PagePool pool = new PagePool(slab, 64);
            AtomicIntegerArray owners = new AtomicIntegerArray(PAGES);
            CountDownLatch start = new CountDownLatch(THREADS);
            List<Future<?>> results = new ArrayList<>();
            for (int i = 1; i <= THREADS; i++) {
                int owner = i;
                results.add(threads.submit(() -> {
                    start.countDown();
                    start.await();
                    work(pool, owners, owner, new Random(seed * 1000 + owner));
                    return null;
                }));
            }
            for (Future<?> result : results) {
                result.get();
            }
            assertThat(pool.free()).isEqualTo(PAGES);
            assertThat(pool.allocate(new long[PAGES], 0, PAGES)).isTrue();
        }
    }

    private static void work(PagePool pool, AtomicIntegerArray owners, int owner, Random random) {
        long[] handles = new long[BATCH];
        for (int step = 0; step < STEPS; step++) {
            int count = 1 + random.nextInt(BATCH);
            if (!allocate(pool, handles, count)) {
                Thread.onSpinWait();
                continue;
            }
            for (int i = 0; i < count; i++) {
                take(pool, owners, owner, handles[i]);
            }
            for (int i = 0; i < count; i++) {
                giveBack(pool, owners, owner, handles[i]);
            }
        }
    }

    private static boolean allocate(PagePool pool, long[] handles, int count) {
        if (count > 1) {
            return pool.allocate(handles, 0, count);
        }
        handles[0] = pool.allocate();
        return handles[0] != PagePool.NONE;
    }

    private static void take(PagePool pool, AtomicIntegerArray owners, int owner, long handle) {
        int page = (int) (pool.offset(handle) / 64);
        assertThat(owners.getAndSet(page, owner)).as("owner of page " + page).isZero();
        pool.page(handle).set(ValueLayout.JAVA_INT, 0, owner);
        pool.page(handle).set(ValueLayout.JAVA_INT, 60, owner);
    }

    private static void giveBack(PagePool pool, AtomicIntegerArray owners, int owner, long handle) {
        MemorySegment page = pool.page(handle);
        assertThat(page.get(ValueLayout.JAVA_INT, 0)).isEqualTo(owner);
        assertThat(page.get(ValueLayout.JAVA_INT, 60)).isEqualTo(owner);
        assertThat(owners.getAndSet((int) (pool.offset(handle) / 64), 0)).isEqualTo(owner);
        pool.free(handle);
    }
}
