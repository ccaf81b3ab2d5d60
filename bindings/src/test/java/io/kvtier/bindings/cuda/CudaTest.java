package io.kvtier.bindings.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.kvtier.bindings.Availability;
import io.kvtier.bindings.FetchedNatives;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(FetchedNatives.class)
class CudaTest {
    @Test
    void runtimeIsFoundWithItsVersion() {
        assertThat(Cuda.runtime()).isInstanceOf(Availability.Present.class);
        assertThat(Cuda.runtime().toString()).matches("CUDA runtime 1[23]\\.\\d+ \\(.*libcudart\\.so\\.1[23]\\)");
    }

    @Test
    void missingDriverIsNamed() {
        assumeFalse(Files.exists(Path.of("/proc/driver/nvidia/version")), "this machine has an NVIDIA driver");
        assertThat(Cuda.devices().isAvailable()).isFalse();
        assertThat(Cuda.devices().toString()).contains("there is no NVIDIA driver");
    }

    @Test
    void versionNumbersAreReadable() {
        assertThat(Cuda.version(12090)).isEqualTo("12.9");
        assertThat(Cuda.version(13000)).isEqualTo("13.0");
    }
}
