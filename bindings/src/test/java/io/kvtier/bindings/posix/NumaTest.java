package io.kvtier.bindings.posix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvtier.bindings.NativeHandles;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
class NumaTest {
    @BeforeEach
    void nodes() {
        Assumptions.assumeTrue(
                Numa.availability().isAvailable(), Numa.availability().toString());
    }

    @AfterEach
    void nothingIsLeftOpen() {
        assertThat(NativeHandles.live()).isEmpty();
    }

    @Test
    void memoryLiesWhereItWasBound() {
        assertThat(Numa.nodes()).isNotEmpty();
        try (MappedMemory memory = MappedMemory.anonymous(1 << 20)) {
            for (int node : Numa.nodes()) {
                Numa.bind(memory.segment(), node);
                memory.segment().fill((byte) 1);
                assertThat(Numa.nodeOf(memory.segment(), 0)).isEqualTo(node);
                assertThat(Numa.nodeOf(memory.segment(), (1 << 20) - 1)).isEqualTo(node);
                Numa.prefer(memory.segment(), node);
            }
            Numa.interleave(memory.segment(), Numa.nodes());
            assertThat(Numa.nodes()).contains(Numa.nodeOf(memory.segment(), 4096));
        }
    }

    @Test
    void badNodesAndMemoryAreRefused() {
        try (MappedMemory memory = MappedMemory.anonymous(8192)) {
            MemorySegment segment = memory.segment();
            for (int bad : new int[] {-1, 1023, 1024, Integer.MAX_VALUE}) {
                assertThatThrownBy(() -> Numa.bind(segment, bad))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining(String.valueOf(bad));
            }
            assertThatThrownBy(() -> Numa.interleave(segment, List.of())).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> Numa.bind(segment.asSlice(8), 0)).hasMessageContaining("whole pages");
            assertThatThrownBy(() -> Numa.bind(MemorySegment.ofArray(new byte[8]), 0))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> Numa.nodeOf(segment, 8192)).isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void refusalsAreExplained() {
        assertThat(Numa.absent(38).toString()).contains("ENOSYS", "built without");
        assertThat(Numa.absent(1).toString()).contains("EPERM", "seccomp");
    }
}
