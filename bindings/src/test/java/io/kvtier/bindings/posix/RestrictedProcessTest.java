package io.kvtier.bindings.posix;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** What a process sees that may not use io_uring, memory policies or much locked memory, as in many containers. */
@EnabledOnOs(OS.LINUX)
class RestrictedProcessTest {
    @TempDir
    Path folder;

    @Test
    void whatIsForbiddenIsAbsentWithItsReasonAndTheRestWorks() throws Exception {
        Assumptions.assumeTrue(
                Files.isExecutable(Path.of("/usr/bin/gcc")),
                "the restricted process is made with gcc, which is not here");
        Path launcher = folder.resolve("launcher");
        Path source = folder.resolve("launcher.c");
        try (InputStream text = RestrictedProcessTest.class.getResourceAsStream("restricted.c")) {
            Files.copy(text, source);
        }
        assertThat(run(List.of("gcc", "-Wall", "-Werror", "-o", launcher.toString(), source.toString())))
                .isEmpty();
        String output = run(List.of(
                launcher.toString(),
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xshare:auto",
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                Path.of("target", "classes") + ":" + Path.of("target", "test-classes"),
                Child.class.getName(),
                folder.resolve("data").toString()));
        assertThat(output)
                .contains("io_uring is not available: this process may not use it (io_uring_setup: EPERM)")
                .contains("seccomp")
                .contains("NUMA placement is not available")
                .contains("ring: io_uring is not available")
                .contains("mlock failed with ")
                .contains("may lock 65536 bytes (ulimit -l)")
                .contains("read: 4096");
    }

    private static String run(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        return output;
    }

    /** Runs in the restricted process. */
    static final class Child {
        private Child() {}

        /** Tries everything. */
        public static void main(String... arguments) {
            System.out.println(IoUring.availability());
            System.out.println(Numa.availability());
            try {
                IoUring.open(4, 4).close();
            } catch (IllegalStateException e) {
                System.out.println("ring: " + e.getMessage());
            }
            try (MappedMemory memory = MappedMemory.anonymous(1 << 20)) {
                memory.lock();
            } catch (PosixException e) {
                System.out.println(e.getMessage());
            }
            Path path = Path.of(arguments[0]);
            try (NativeFile file = NativeFile.open(
                            path, NativeFile.Option.READ, NativeFile.Option.WRITE, NativeFile.Option.CREATE);
                    Arena arena = Arena.ofConfined()) {
                MemorySegment page = arena.allocate(4096);
                file.write(page, 0);
                System.out.println("read: " + file.read(page, 0));
            }
        }
    }
}
