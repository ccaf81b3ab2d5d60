package io.kvtier.bindings.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvtier.bindings.ChildJvm;
import io.kvtier.bindings.emulator.DeviceEmulator;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** What the JVM of the tests cannot see of itself. */
@Tag("emulator")
@ExtendWith(DeviceEmulator.class)
class CudaProcessTest {
    @TempDir
    Path folder;

    @Test
    void strayHostAccessToDeviceMemoryFaults() throws Exception {
        List<String> flags = new ArrayList<>(DeviceEmulator.flags());
        flags.addAll(List.of("-XX:-CreateCoredumpOnCrash", "-XX:ErrorFile=" + folder.resolve("crash")));
        try (ChildJvm child = ChildJvm.start(CudaProcess.class, flags, "stray")) {
            assertThat(child.hear("allocated")).isEmpty();
            assertThat(child.exitCode()).isNotZero();
        }
        assertThat(Files.readString(folder.resolve("crash"), StandardCharsets.ISO_8859_1))
                .contains("SIGSEGV", "CudaProcess.stray");
    }

    @Test
    void whatIsLeftOpenIsReportedAtExit() throws Exception {
        Path report = folder.resolve("report");
        try (ChildJvm child = ChildJvm.start(
                CudaProcess.class,
                DeviceEmulator.flags(),
                Map.of("KVTIER_EMULATOR_REPORT", report.toString()),
                "leak")) {
            assertThat(child.hear("live "))
                    .isEqualTo("{cuda.deviceMemory=1, cuda.event=1, cuda.pinnedMemory=1, cuda.stream=1}");
            assertThat(child.exitCode()).isZero();
        }
        assertThat(Files.readString(report)).contains("4 objects were not released");
    }

    @Test
    void nothingIsLeftOfWhatWasClosed() throws Exception {
        Path report = folder.resolve("report");
        try (ChildJvm child = ChildJvm.start(
                CudaProcess.class,
                DeviceEmulator.flags(),
                Map.of("KVTIER_EMULATOR_REPORT", report.toString()),
                "clean")) {
            assertThat(child.hear("live ")).isEqualTo("{}");
            assertThat(child.exitCode()).isZero();
        }
        assertThat(Files.readString(report))
                .contains("0 objects were not released")
                .doesNotContain("misuse");
    }

    @Test
    void driverWithoutDevicesIsToldToAllWhoAsk() throws Exception {
        assertRefused(
                DeviceEmulator.flags(),
                Map.of("KVTIER_EMULATOR_DEVICES", "0"),
                "the driver for " + driver() + " sees no device");
    }

    @Test
    void missingDriverIsToldToAllWhoAsk() throws Exception {
        assertRefused(
                DeviceEmulator.flags(),
                Map.of("KVTIER_EMULATOR_DEVICES", "-1"),
                "there is no NVIDIA driver; install one on a machine with a GPU");
    }

    private static String driver() {
        return DeviceEmulator.major() == 12 ? "12.9" : "13.5";
    }

    private static void assertRefused(List<String> flags, Map<String, String> environment, String reason)
            throws Exception {
        try (ChildJvm child = ChildJvm.start(CudaProcess.class, flags, environment, "availability")) {
            assertThat(child.hear("runtime ")).startsWith("CUDA runtime " + driver());
            assertThat(child.hear("devices ")).contains(reason);
            assertThat(child.hear("count ")).startsWith("refused: ").contains(reason);
            assertThat(child.hear("version ")).isEqualTo(DeviceEmulator.major() == 12 ? "12090" : "13050");
            assertThat(child.hear("driver ")).isNotEmpty();
            for (String call : new String[] {"stream ", "memory ", "pinned "}) {
                assertThat(child.hear(call)).startsWith("refused: ").contains(reason);
            }
            assertThat(child.hear("live ")).isEqualTo("{}");
            assertThat(child.exitCode()).isZero();
        }
    }

    @Test
    void runtimeThatLacksAFunctionCannotBeUsed() throws Exception {
        try (ChildJvm child =
                ChildJvm.start(CudaProcess.class, DeviceEmulator.flagsWithout("cudaMemPoolCreate"), "availability")) {
            assertThat(child.hear("runtime "))
                    .contains("is no CUDA runtime that kvtier can use: it lacks cudaMemPoolCreate");
            assertThat(child.hear("devices ")).contains("it lacks cudaMemPoolCreate");
            assertThat(child.hear("count ")).startsWith("refused: ").contains("it lacks cudaMemPoolCreate");
            assertThat(child.hear("version ")).startsWith("refused: ").contains("it lacks cudaMemPoolCreate");
            assertThat(child.exitCode()).isZero();
        }
    }
}
