package io.kvtier.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvtier.memory.NativeMemory.Purpose;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class NativeMemoryTest {
    @Test
    void bytesAreCountedByPurposeUntilTheyAreFreed() {
        try (Arena staging = NativeMemory.confined(Purpose.STAGING);
                Arena other = NativeMemory.shared(Purpose.OTHER)) {
            assertThat(NativeMemory.live()).isEmpty();
            assertThat(staging.allocate(100, 64).address() % 64).isZero();
            assertThat(staging.allocate(11).byteSize()).isEqualTo(11);
            assertThat(other.allocate(1000).scope()).isEqualTo(other.scope());
            assertThat(NativeMemory.live()).isEqualTo(Map.of(Purpose.STAGING, 111L, Purpose.OTHER, 1000L));
            assertThat(NativeMemory.liveBytes(Purpose.STAGING)).isEqualTo(111);
            assertThat(NativeMemory.liveBytes(Purpose.METADATA)).isZero();
            assertThat(NativeMemory.liveBytes()).isEqualTo(1111);
        }
        assertThat(NativeMemory.live()).isEmpty();
    }

    @Test
    void whatIsRefusedIsNotCounted() {
        try (Arena arena = NativeMemory.confined(Purpose.STAGING)) {
            assertThatThrownBy(() -> arena.allocate(-1)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> arena.allocate(Long.MAX_VALUE)).isInstanceOf(OutOfMemoryError.class);
            assertThat(NativeMemory.live()).isEmpty();
        }
    }

    @Test
    void anArenaThatCannotBeClosedStaysCounted() throws InterruptedException {
        Arena arena = NativeMemory.confined(Purpose.STAGING);
        arena.allocate(10);
        AtomicBoolean refused = new AtomicBoolean();
        Thread stranger = Thread.ofPlatform().start(() -> {
            try {
                arena.close();
            } catch (WrongThreadException e) {
                refused.set(true);
            }
        });
        stranger.join();
        assertThat(refused).isTrue();
        assertThat(NativeMemory.liveBytes()).isEqualTo(10);
        arena.close();
    }

    @Test
    void memoryOfAClosedArenaIsGone() {
        MemorySegment segment;
        try (Arena arena = NativeMemory.shared(Purpose.OTHER)) {
            segment = arena.allocate(8);
        }
        assertThatThrownBy(() -> segment.fill((byte) 1)).isInstanceOf(IllegalStateException.class);
    }
}
