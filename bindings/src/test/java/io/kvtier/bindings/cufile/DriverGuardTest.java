package io.kvtier.bindings.cufile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** A driver that must not be opened never is; one that may hang or crash does so in a process of its own. */
@EnabledOnOs(OS.LINUX)
class DriverGuardTest {
    @TempDir
    Path folder;

    private CuFileProcess process;

    @BeforeEach
    void prepare() throws IOException {
        CuFileProcess.requirePossible();
        Files.createFile(folder.resolve("modules"));
        process = new CuFileProcess(CuFileProcess.compile("opens.c", folder), folder);
    }

    @Test
    void withoutLoadableModulesNothingIsTried() {
        String missing = folder.resolve("none").toString();
        assertThat(process.with("KVTIER_MODULES", missing)
                        .with("KVTIER_OPEN", "spin")
                        .run(Guarded.class, "look"))
                .contains("path NONE [the kernel has no loadable modules (/proc/modules is not readable)")
                .contains("refused cuFile's driver cannot be opened: the kernel has no loadable modules");
    }

    @Test
    void anOpenThatNeverReturnsIsGivenUpOnce() {
        long start = System.nanoTime();
        String output = process.with("KVTIER_OPEN", "spin")
                .withProperty("kvtier.cufile.probeSeconds", "2")
                .run(Guarded.class, "twice");
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(60));
        assertThat(output)
                .contains("refused cuFile's driver cannot be opened: a trial in a process of its own did not return"
                        + " within 2 s; the property kvtier.cufile.probeSeconds allows it more time")
                .contains("again in no time")
                .contains("0 children");
    }

    @Test
    void anOpenThatCrashesIsNamed() {
        assertThat(process.with("KVTIER_OPEN", "crash").run(Guarded.class, "look"))
                .contains("path COMPAT")
                .contains("refused cuFile's driver cannot be opened: a trial in a process of its own crashed with"
                        + " signal 11");
    }

    @Test
    void anOpenThatIsRefusedIsNamed() {
        assertThat(process.with("KVTIER_OPEN", "refuse").run(Guarded.class, "look"))
                .contains("failed (cuFileDriverOpen failed with CU_FILE_PLATFORM_NOT_SUPPORTED (5007)");
    }

    @Test
    void anOpenThatReturnsIsMade() {
        assertThat(process.run(Guarded.class, "look")).contains("opened");
    }

    @Test
    void theTrialCanBeLeftOut() {
        assertThat(process.with("KVTIER_MODULES", folder.resolve("none").toString())
                        .withProperty("kvtier.cufile.probeSeconds", "0")
                        .run(Guarded.class, "look"))
                .contains("opened");
        assertThat(new CuFileProcess(folder.resolve("opens.so"), folder)
                        .withProperty("kvtier.cufile.probeSeconds", "-3")
                        .run(Guarded.class, "bad"))
                .contains("bad the property kvtier.cufile.probeSeconds is -3, it must not be negative");
    }

    @Test
    void whatTheOldLibraryLacksIsNamed() {
        assertThat(process.run(Guarded.class, "old"))
                .contains("cuFileBatchIOSetUp; cuFile 1.7 has it")
                .contains("cuFileSetParameterSizeT; cuFile 1.14 has it")
                .contains("cuFileGetStatsL1; cuFile 1.20 has it");
    }

    /** What the other process does. */
    static final class Guarded {
        private Guarded() {}

        public static void main(String[] arguments) {
            switch (arguments[0]) {
                case "look" -> look();
                case "twice" -> twice();
                case "bad" ->
                    assertThatThrownBy(CuFile::requireDriverCanOpen)
                            .isInstanceOf(IllegalArgumentException.class)
                            .satisfies(e -> System.out.println("bad " + e.getMessage()));
                case "old" -> old();
                default -> throw new IllegalArgumentException(arguments[0]);
            }
        }

        private static void look() {
            IoPath path = CuFile.ioPath();
            System.out.println("path " + path.mode() + " " + path.reasons());
            try (Driver _ = Driver.open()) {
                System.out.println("opened");
            } catch (IllegalStateException e) {
                System.out.println("refused " + e.getMessage());
            }
        }

        private static void twice() {
            look();
            long start = System.nanoTime();
            assertThatThrownBy(CuFile::requireDriverCanOpen).hasMessageContaining("did not return within 2 s");
            if (Duration.ofNanos(System.nanoTime() - start).toMillis() < 1_000) {
                System.out.println("again in no time");
            }
            System.out.println(ProcessHandle.current().children().count() + " children");
        }

        private static void old() {
            try (Driver driver = Driver.open()) {
                for (Runnable newer :
                        new Runnable[] {() -> Batch.create(driver, 1), driver::startStatistics, () -> CuFile.ioPath()
                        }) {
                    tell(newer);
                }
            }
            tell(() -> Parameters.set(Parameters.Size.IO_THREADS, 1));
            tell(() -> Parameters.get(Parameters.Flag.POLL_MODE));
        }

        private static void tell(Runnable call) {
            try {
                call.run();
            } catch (UnsupportedOperationException e) {
                System.out.println(e.getMessage());
            }
        }
    }
}
