package io.kvtier.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

class SlabTest {
    @Test
    void isZeroedAlignedAndAsLargeAsAskedFor() {
        try (Slab slab = Slab.allocate(10_001)) {
            assertThat(slab.byteSize()).isEqualTo(10_001);
            assertThat(slab.segment().byteSize()).isEqualTo(10_001);
            assertThat(slab.segment().address() % Slab.ALIGNMENT).isZero();
            assertThat(slab.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
        }
    }

    @Test
    void canBeUsedByEveryThread() {
        try (Slab slab = Slab.allocate(1)) {
            assertThat(slab.segment().isAccessibleBy(new Thread(() -> {}))).isTrue();
        }
    }

    @Test
    void bytesCountUntilTheFirstClose() {
        long before = NativeMemory.liveBytes();
        Slab slab = Slab.allocate(5000);
        assertThat(NativeMemory.liveBytes()).isEqualTo(before + 5000);
        slab.close();
        slab.close();
        assertThat(NativeMemory.liveBytes()).isEqualTo(before);
    }

    @Test
    void closedMemoryCannotBeRead() {
        Slab slab = Slab.allocate(8);
        slab.close();
        assertThatThrownBy(() -> slab.segment().get(ValueLayout.JAVA_BYTE, 0))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    void refusesToBeEmpty() {
        assertThatIllegalArgumentException().isThrownBy(() -> Slab.allocate(0)).withMessageContaining("got 0");
        assertThatIllegalArgumentException().isThrownBy(() -> Slab.allocate(-1)).withMessageContaining("got -1");
    }

    @Test
    void saysHowMuchTheSystemDidNotHave() {
        long before = NativeMemory.liveBytes();
        assertThatThrownBy(() -> Slab.allocate(Long.MAX_VALUE))
                .isInstanceOf(OutOfMemoryError.class)
                .hasMessageContaining(Long.toString(Long.MAX_VALUE));
        assertThat(NativeMemory.liveBytes()).isEqualTo(before);
        assertThatCode(() -> Slab.allocate(1).close()).doesNotThrowAnyException();
    }
}
