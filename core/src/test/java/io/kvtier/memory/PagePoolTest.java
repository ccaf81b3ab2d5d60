package io.kvtier.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PagePoolTest {
    private final Slab slab = Slab.allocate(10 * 64 + 63);
    private final PagePool pool = new PagePool(slab, 64);

    @AfterEach
    void close() {
        slab.close();
    }

    @Test
    void everyWholePageOfTheSlabCanBeUsed() {
        assertThat(pool.pages()).isEqualTo(10);
        assertThat(pool.pageBytes()).isEqualTo(64);
        long[] offsets = LongStream.range(0, 10)
                .map(_ -> pool.offset(pool.allocate()))
                .sorted()
                .toArray();
        assertThat(offsets).isEqualTo(LongStream.range(0, 10).map(i -> i * 64).toArray());
        assertThat(pool.allocate()).isEqualTo(PagePool.NONE);
        assertThat(pool.free()).isZero();
        assertThat(pool.used()).isEqualTo(10);
    }

    @Test
    void aPageIsThePartOfTheSlabAtItsOffset() {
        long handle = pool.allocate();
        pool.page(handle).fill((byte) 7);
        byte[] all = slab.segment().toArray(ValueLayout.JAVA_BYTE);
        int offset = (int) pool.offset(handle);
        assertThat(Arrays.copyOfRange(all, offset, offset + 64)).containsOnly(7);
        Arrays.fill(all, offset, offset + 64, (byte) 0);
        assertThat(all).containsOnly(0);
    }

    @Test
    void aBatchGetsAllItsPagesOrNone() {
        long[] handles = new long[12];
        assertThat(pool.allocate(handles, 1, 7)).isTrue();
        assertThat(handles[0]).isZero();
        assertThat(Arrays.copyOfRange(handles, 8, 12)).containsOnly(0);
        long[] before = handles.clone();
        assertThat(pool.allocate(handles, 8, 4)).isFalse();
        assertThat(handles).isEqualTo(before);
        assertThat(pool.free()).isEqualTo(3);
        assertThat(pool.allocate(handles, 8, 3)).isTrue();
        assertThat(pool.allocate(handles, 0, 0)).isTrue();
        assertThat(pool.free()).isZero();
    }

    @Test
    void aBatchOutsideItsArrayIsRefused() {
        assertThatThrownBy(() -> pool.allocate(new long[2], 1, 2)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> pool.allocate(new long[2], 0, -1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThat(pool.free()).isEqualTo(10);
    }

    @Test
    void doubleFreeIsRefused() {
        long handle = pool.allocate();
        pool.free(handle);
        assertRefused(handle);
    }

    @Test
    void aStaleHandleIsRefusedWhenItsPageBelongsToAnother() {
        long stale = pool.allocate();
        pool.free(stale);
        long handle = pool.allocate();
        assertThat(pool.offset(handle)).isEqualTo(0);
        assertThat(handle).isNotEqualTo(stale);
        assertRefused(stale);
        pool.free(handle);
    }

    @Test
    void anotherPoolsHandleIsRefused() {
        long handle = new PagePool(slab, 64).allocate();
        pool.allocate();
        assertRefused(handle);
    }

    @Test
    void madeUpHandlesAreRefused() {
        long handle = pool.allocate();
        for (long madeUp : new long[] {
            PagePool.NONE, 0, 1, Long.MIN_VALUE, Long.MAX_VALUE, handle + 1, handle + 10, handle ^ Long.MIN_VALUE
        }) {
            assertRefused(madeUp);
        }
        for (int bit = 0; bit < 64; bit++) {
            assertRefused(handle ^ 1L << bit);
        }
    }

    @Test
    void aRefusalNamesTheHandleAndWhatThePoolHas() {
        long handle = pool.allocate();
        pool.free(handle);
        assertThatIllegalStateException()
                .isThrownBy(() -> pool.free(handle))
                .withMessageContaining("0x" + Long.toHexString(handle))
                .withMessageContaining("page 0")
                .withMessageContaining("generation 1")
                .withMessageContaining("generation is 2");
    }

    @Test
    void sizesThatMakeNoPoolAreRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> new PagePool(slab, 0));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new PagePool(slab, 704))
                .withMessageContaining("703")
                .withMessageContaining("704");
        assertThat(new PagePool(slab, 703).pages()).isEqualTo(1);
    }

    private void assertRefused(long handle) {
        int free = pool.free();
        assertThatIllegalStateException().isThrownBy(() -> pool.free(handle));
        assertThatIllegalStateException().isThrownBy(() -> pool.offset(handle));
        assertThatIllegalStateException().isThrownBy(() -> pool.page(handle));
        assertThat(pool.free()).isEqualTo(free);
    }
}
