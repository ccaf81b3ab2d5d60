package io.kvtier.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RangePoolTest {
    private final Slab slab = Slab.allocate(1 << 20);
    private final RangePool pool = new RangePool(slab);

    @AfterEach
    void close() {
        slab.close();
    }

    @Test
    void oneRangeMayHaveTheWholeSlab() {
        long all = pool.allocate(1 << 20, 1);
        assertThat(pool.free()).isZero();
        assertThat(pool.largestFree()).isZero();
        assertThat(pool.allocate(1, 1)).isEqualTo(RangePool.NONE);
        pool.free(all);
        assertThat(pool.free()).isEqualTo(1 << 20);
    }

    @Test
    void rangeIsThePartOfTheSlabAtItsOffset() {
        pool.allocate(100, 1);
        long handle = pool.allocate(50, 1);
        pool.range(handle).fill((byte) 9);
        assertThat(slab.segment().asSlice(pool.offset(handle), 50).toArray(ValueLayout.JAVA_BYTE))
                .containsOnly(9);
        assertThat(pool.range(handle).byteSize()).isEqualTo(50);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 64, 4096, 65536, 1 << 19})
    void addressesAreAligned(long alignment) {
        pool.allocate(1, 1);
        long handle = pool.allocate(3, alignment);
        assertThat((slab.segment().address() + pool.offset(handle)) % alignment).isZero();
    }

    @Test
    void neighboursThatAreFreeBecomeOne() {
        long[] handles = new long[3];
        assertThat(pool.allocate(new long[] {1000, 2000, 3000}, 1, handles)).isTrue();
        pool.free(handles[0]);
        pool.free(handles[2]);
        pool.free(handles[1]);
        assertThat(pool.largestFree()).isEqualTo(1 << 20);
    }

    @Test
    void refusalSaysWhatThereIs() {
        pool.allocate(1 << 19, 1);
        assertThat(pool.allocate(1 << 20, 4096)).isEqualTo(RangePool.NONE);
        assertThat(pool.refusal(1 << 20, 4096))
                .isEqualTo("1048576 bytes aligned to 4096 requested; of 1048576 bytes 524288 are free, at most 524288"
                        + " in one piece");
    }

    @Test
    void wrongNumbersAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> pool.allocate(0, 1))
                .withMessageContaining("got 0");
        assertThatIllegalArgumentException().isThrownBy(() -> pool.allocate(-1, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> pool.allocate(1, 0));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> pool.allocate(1, 3))
                .withMessageContaining("got 3");
        assertThatIllegalArgumentException().isThrownBy(() -> pool.allocate(1, 2L << 30));
        assertThatIllegalArgumentException().isThrownBy(() -> pool.allocate(new long[] {1, 0}, 1, new long[2]));
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> pool.allocate(new long[] {1, 1}, 1, new long[1]));
        assertThat(pool.used()).isZero();
    }

    @Test
    void hugeRequestsAreRefusedWithoutOverflow() {
        assertThat(pool.allocate(Long.MAX_VALUE, 1)).isEqualTo(RangePool.NONE);
        assertThat(pool.allocate(Long.MAX_VALUE, RangePool.MAX_ALIGNMENT)).isEqualTo(RangePool.NONE);
        assertThat(pool.used()).isZero();
    }

    @Test
    void rangeOfAnotherPoolIsRefused() {
        try (Slab other = Slab.allocate(100)) {
            long foreign = new RangePool(other).allocate(10, 1);
            pool.allocate(10, 1);
            assertThatIllegalStateException()
                    .isThrownBy(() -> pool.free(foreign))
                    .withMessageContaining("is of no range in use in pool");
        }
        assertThat(pool.used()).isEqualTo(10);
    }

    @Test
    void doubleFreeIsRefused() {
        long handle = pool.allocate(10, 1);
        pool.free(handle);
        assertThatIllegalStateException().isThrownBy(() -> pool.free(handle));
        assertThatIllegalStateException().isThrownBy(() -> pool.free(RangePool.NONE));
        assertThatIllegalStateException().isThrownBy(() -> pool.free(0));
        assertThat(pool.used()).isZero();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2})
    void accountsAreExactAfterMuchChurn(long seed) {
        Random random = new Random(seed);
        List<Long> handles = new ArrayList<>();
        long used = 0;
        for (int i = 0; i < 200_000; i++) {
            long bytes = 1 + random.nextInt(4096);
            long handle = pool.allocate(bytes, 1L << random.nextInt(6));
            if (handle == RangePool.NONE || random.nextInt(1000) == 0) {
                for (int k = handles.size() / 4; k > 0; k--) {
                    long freed = handles.remove(random.nextInt(handles.size()));
                    used -= pool.byteSize(freed);
                    pool.free(freed);
                }
            }
            if (handle != RangePool.NONE) {
                handles.add(handle);
                used += bytes;
            }
            assertThat(pool.used()).isEqualTo(used);
        }
        handles.forEach(pool::free);
        assertThat(pool.largestFree()).isEqualTo(pool.capacity());
    }
}
