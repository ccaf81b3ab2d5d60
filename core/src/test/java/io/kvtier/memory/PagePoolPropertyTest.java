package io.kvtier.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.constraints.IntRange;

/** A pool against a plain list of the handles that are in use. */
class PagePoolPropertyTest {
    private static final int PAGE_BYTES = 32;

    @Property(shrinking = ShrinkingMode.OFF)
    void behavesAsASetOfPages(@ForAll @IntRange(min = 1, max = 300) int pages, @ForAll long seed) {
        Random random = new Random(seed);
        try (Slab slab = Slab.allocate((long) pages * PAGE_BYTES)) {
            PagePool pool = new PagePool(slab, PAGE_BYTES);
            List<Long> used = new ArrayList<>();
            List<Long> dead = new ArrayList<>();
            for (int step = 0; step < 150; step++) {
                switch (random.nextInt(8)) {
                    case 0 -> allocateOne(pool, pages, used);
                    case 1 -> allocateBatch(pool, random.nextInt(pages + 2), pages, used);
                    case 2 -> allocateUpTo(pool, random.nextInt(pages / 2 + 2), pages, used);
                    case 3 -> allocateRun(pool, 1 + random.nextInt(pages / 3 + 1), used);
                    case 4, 5, 6 -> freeSome(pool, random, used, dead);
                    default -> freeDead(pool, random, dead);
                }
                assertThat(pool.used()).isEqualTo(used.size());
                assertThat(pool.free() + pool.used()).isEqualTo(pages);
                boolean[] inUse = pagesInUse(pool, used);
                assertThat(pool.longestFreeRun()).isEqualTo(longestGap(inUse));
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

    private static void allocateUpTo(PagePool pool, int most, int pages, List<Long> used) {
        long[] handles = new long[most];
        int got = pool.allocateUpTo(handles, 0, most);
        assertThat(got).isEqualTo(Math.min(most, pages - used.size()));
        for (int i = 0; i < got; i++) {
            used.add(handles[i]);
        }
    }

    private static void allocateRun(PagePool pool, int count, List<Long> used) {
        int longest = longestGap(pagesInUse(pool, used));
        long[] handles = new long[count];
        assertThat(pool.allocateRun(handles, 0, count)).isEqualTo(count <= longest);
        for (int i = 0; count <= longest && i < count; i++) {
            assertThat(pool.offset(handles[i])).isEqualTo(pool.offset(handles[0]) + (long) i * PAGE_BYTES);
            used.add(handles[i]);
        }
    }

    private static void freeSome(PagePool pool, Random random, List<Long> used, List<Long> dead) {
        for (int i = random.nextInt(1 + used.size() / 2); i > 0; i--) {
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

    private static boolean[] pagesInUse(PagePool pool, List<Long> used) {
        boolean[] inUse = new boolean[pool.pages()];
        for (long handle : used) {
            long offset = pool.offset(handle);
            assertThat(offset % PAGE_BYTES).isZero();
            int page = Math.toIntExact(offset / PAGE_BYTES);
            assertThat(inUse[page]).as("page %d has a second owner", page).isFalse();
            inUse[page] = true;
        }
        return inUse;
    }

    private static int longestGap(boolean[] inUse) {
        int longest = 0;
        int gap = 0;
        for (boolean used : inUse) {
            gap = used ? 0 : gap + 1;
            longest = Math.max(longest, gap);
        }
        return longest;
    }
}
