package io.kvtier.bindings.cufile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kvtier.bindings.probe.VendorWheels;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * cuFile itself, without a GPU: in its compatibility mode, with host memory and files in memory. That of CUDA 13 can do that, that
 * of CUDA 12 wants the driver even so.
 */
class RealCuFileTest {
    private static final Path SHARED_MEMORY = Path.of("/dev/shm");
    private static String problem = "";

    @TempDir
    Path folder;

    private Path files;

    @BeforeAll
    static void fetch() {
        CuFileProcess.requirePossible();
        try {
            VendorWheels.cuFile(12);
            VendorWheels.cuFile(13);
        } catch (IOException e) {
            problem = "cuFile could not be fetched: " + e.getMessage();
        }
    }

    @BeforeEach
    void prepare() throws IOException {
        assumeTrue(problem.isEmpty(), problem);
        Files.createFile(folder.resolve("modules"));
        files = Files.createTempDirectory(SHARED_MEMORY, "kvtier-cufile");
    }

    @AfterEach
    void deleteFiles() throws IOException {
        if (files != null) {
            try (var all = Files.list(files)) {
                for (Path file : all.toList()) {
                    Files.delete(file);
                }
            }
            Files.delete(files);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"driver", "parameters", "statistics", "files", "model", "buffers", "batches", "closing"})
    void worksOnHostMemory(String what) throws IOException {
        String output =
                new CuFileProcess(VendorWheels.cuFile(13), folder).run(RealCuFile.class, what, files.toString());
        assertThat(output).endsWith("done " + what + "\n");
        assertThat(folder.resolve("cufile.log")).as("in the working folder").doesNotExist();
    }

    /** Registrations that leaked 1 KiB would show as 20 MiB, those that leaked a descriptor as a failure. */
    @Test
    void registeringAndBatchesDoNotGrow() throws IOException {
        String output =
                new CuFileProcess(VendorWheels.cuFile(13), folder).run(RealCuFile.class, "growth", files.toString());
        System.out.print(output);
        assertThat(grown(output, "registrations")).isLessThan(8 << 10);
        assertThat(grown(output, "batches")).isLessThan(8 << 10);
    }

    private static long grown(String output, String what) {
        return output.lines()
                .filter(line -> line.startsWith(what + " "))
                .mapToLong(line -> Long.parseLong(line.split(" ", -1)[1]))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void theOneOfCuda12SaysThatItNeedsTheDriver() throws IOException {
        assumeFalse(Files.exists(Path.of("/proc/driver/nvidia/version")), "this machine has an NVIDIA driver");
        assertThat(new CuFileProcess(VendorWheels.cuFile(12), folder)
                        .run(RealCuFile.class, "refused", files.toString()))
                .contains("cuFile's driver cannot be opened: a trial in a process of its own failed (cuFileDriverOpen"
                        + " failed with CU_FILE_NVFS_SETUP_ERROR (5033): is NVIDIA's driver (libcuda.so.1) installed?")
                .endsWith("done refused\n");
    }
}
