package io.kvtier.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.constraints.IntRange;

/** A pool against a plain list of the handles that are in use. */
class PagePoolPropertyTest {
    private static final int PAGE_BYTES = 32;

    @Property(shrinking = ShrinkingMode.OFF)
    void behavesAsASetOfPages(@ForAll @IntRange(min = 1, max = 40) int pages, @ForAll long seed) {
        Random random = new Random(seed);
        try (Slab slab = Slab.allocate((long) pages * PAGE_BYTES)) {
            PagePool pool = new PagePool(slab, PAGE_BYTES);
            List<Long> used = new ArrayList<>();
            List<Long> dead = new ArrayList<>();
            for (int step = 0; step < 200; step++) {
                switch (random.nextInt(4)) {
                    case 0 -> allocateOne(pool, pages, used);
                    case 1 -> allocateBatch(pool, random.nextInt(pages + 2), pages, used);
                    case 2 -> freeOne(pool, random, used, dead);
                    default -> freeDead(pool, random, dead);
                }
                assertThat(pool.used()).isEqualTo(used.size());
                assertThat(pool.free() + pool.used()).isEqualTo(pages);
                assertPagesAreDistinct(pool, used);
            }
            used.forEach(pool::free);
            assertThat(pool.free()).isEqualTo(pages);
            assertThat(pool.allocate(new long[pages], 0, pages)).isTrue();
        }
    }

    private static void allocateOne(PagePool pool, int pages, List<Long> used) {
        long handle = pool.allocate();
        assertThat(handle == PagePool.NONE).isEqualTo(used.size() == pages);
        if (handle != PagePool.NONE) {
            used.add(handle);
        }
    }

    private static void allocateBatch(PagePool pool, int count, int pages, List<Long> used) {
        long[] handles = new long[count];
        boolean fits = used.size() + count <= pages;
        assertThat(pool.allocate(handles, 0, count)).isEqualTo(fits);
        for (long handle : handles) {
            if (fits) {
                used.add(handle);
            } else {
                assertThat(handle).isZero();
            }
        }
    }

    private static void freeOne(PagePool pool, Random random, List<Long> used, List<Long> dead) {
        if (!used.isEmpty()) {
            long handle = used.remove(random.nextInt(used.size()));
            pool.free(handle);
            dead.add(handle);
        }
    }

    private static void freeDead(PagePool pool, Random random, List<Long> dead) {
        if (!dead.isEmpty()) {
            long handle = dead.get(random.nextInt(dead.size()));
            assertThatIllegalStateException().isThrownBy(() -> pool.free(handle));
        }
    }

    private static void assertPagesAreDistinct(PagePool pool, List<Long> used) {
        Set<Long> offsets = new HashSet<>();
        for (long handle : used) {
            long offset = pool.offset(handle);
            assertThat(offset % PAGE_BYTES).isZero();
            assertThat(offset).isBetween(0L, (long) (pool.pages() - 1) * PAGE_BYTES);
            assertThat(offsets.add(offset)).isTrue();
        }
    }
}
