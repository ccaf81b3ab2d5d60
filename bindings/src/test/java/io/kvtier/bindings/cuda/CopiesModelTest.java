package io.kvtier.bindings.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvtier.bindings.ChildJvm;
import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.emulator.DeviceEmulator;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Random copies do what the same on arrays does. */
@Tag("emulator")
@ExtendWith(DeviceEmulator.class)
class CopiesModelTest {
    private static final int STEPS = 3_000;

    @Test
    void copiesAreThoseOfArrays() {
        try (CopiesModel model = new CopiesModel(seed(), DeviceEmulator::holdStreams)) {
            model.run(STEPS);
        }
        assertThat(BatchNative.isThere()).isTrue();
        assertThat(DeviceEmulator.calls("cudaMemcpyBatchAsync")).isGreaterThan(STEPS / 20);
        assertThat(DeviceEmulator.calls("cudaMemcpyPeerAsync")).isPositive();
        assertThat(NativeHandles.live()).isEmpty();
    }

    /** The batch copy came with 12.8. */
    @Test
    void olderRuntimeGetsACallForEachCopy() throws IOException, InterruptedException {
        List<String> flags = DeviceEmulator.flagsWithout("cudaMemcpyBatchAsync");
        try (ChildJvm child =
                ChildJvm.start(CopiesModel.class, flags, Long.toString(seed()), Integer.toString(STEPS))) {
            assertThat(child.hear("batches ")).isEqualTo("one by one");
            assertThat(child.exitCode()).isZero();
        }
    }

    private static long seed() {
        long seed = Long.getLong("kvtier.seed", System.nanoTime());
        System.out.println("CopiesModelTest: -Dkvtier.seed=" + seed);
        return seed;
    }
}
