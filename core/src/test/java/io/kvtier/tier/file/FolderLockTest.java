package io.kvtier.tier.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kvtier.tier.TierException;
import io.kvtier.tier.TierException.Reason;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A lock of a POSIX file is lost when its process closes any channel on the file: attempts of this process to open a
 * folder that it holds already must not open the other processes' way.
 */
class FolderLockTest {
    private static final int REFUSED = 7;

    @TempDir
    Path parent;

    /** Another process that tries to open a folder, and ends with what came of it. */
    static final class Contender {
        private Contender() {}

        /** Opens the folder that is named. */
        public static void main(String[] args) {
            try (CacheFolder folder = CacheFolder.open(Path.of(args[0]))) {
                System.out.println("opened " + folder.root());
            } catch (TierException e) {
                System.out.println(e.getMessage());
                System.exit(e.reason() == Reason.IN_USE ? REFUSED : 1);
            }
        }
    }

    @Test
    void aRefusedSecondOpeningHereDoesNotGiveTheFolderToAnotherProcess() throws Exception {
        Path folder = parent.resolve("folder");
        try (CacheFolder held = CacheFolder.open(folder)) {
            assertRefused(held.root());
            assertThat(contend(folder)).isEqualTo(REFUSED);
        }
        assertThat(contend(folder)).isZero();
        CacheFolder.open(folder).close();
    }

    @Test
    void theFolderIsTheSameByWhateverNameItIsOpened() throws Exception {
        Path folder = Files.createDirectory(parent.resolve("folder"));
        Path link = Files.createSymbolicLink(parent.resolve("link"), folder);
        try (CacheFolder _ = CacheFolder.open(folder)) {
            assertRefused(link);
            assertRefused(parent.resolve("x/../folder"));
            assertThat(contend(folder)).isEqualTo(REFUSED);
        }
    }

    @Test
    void aFolderThatWasDeletedAndMadeAnewCanBeOpenedAnew() throws IOException {
        Path folder = Files.createDirectory(parent.resolve("folder"));
        try (CacheFolder _ = CacheFolder.open(folder)) {
            Files.move(folder, parent.resolve("away"));
            CacheFolder.open(folder).close();
        }
    }

    private static void assertRefused(Path folder) {
        TierException failure = catchThrowableOfType(
                TierException.class, () -> CacheFolder.open(folder).close());
        assertThat(failure).isNotNull();
        assertThat(failure.reason()).isEqualTo(Reason.IN_USE);
        assertThat(failure)
                .hasMessageContaining("pid " + ProcessHandle.current().pid());
    }

    private static int contend(Path folder) throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx64m",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        classes(CacheFolder.class) + File.pathSeparator + classes(Contender.class),
                        Contender.class.getName(),
                        folder.toString())
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isNotEqualTo(1);
        return process.exitValue();
    }

    /** Returns the root of the tree that a class was loaded from. */
    private static Path classes(Class<?> type) throws Exception {
        String name = type.getName().replace('.', '/') + ".class";
        URI file = type.getResource(name.substring(name.lastIndexOf('/') + 1)).toURI();
        Path root = Path.of(file);
        for (int i = 0; i < Path.of(name).getNameCount(); i++) {
            root = root.getParent();
        }
        return root;
    }
}
