package io.kvtier.bindings.nixl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kvtier.bindings.ChildJvm;
import io.kvtier.bindings.internal.LibrarySearch;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** NIXL 1.4.0, which calls short and failed I/O done: kvtier does not. Fetched once, for x86_64. */
class NixlOlderReleaseTest {
    private static final String PIN = """
            nixl-cu13==1.4.0 --hash=sha256:48b8773c3dec5865bddc9573a891acc23615eaa45f4dad149d7d7c82343b5af5
            """;
    private static final String LIBRARY = ".nixl_cu13.mesonpy.libs/libnixl_capi.so";

    @TempDir
    Path folder;

    @Test
    void shortReadsAreErrorsAndTheUntrustworthyQueueIsRefused() throws Exception {
        assumeTrue(System.getProperty("os.arch").equals("amd64"), "the wheel is for x86_64");
        Path release = LibrarySearch.nativesFolder().resolve("older").resolve("nixl-1.4.0");
        assumeTrue(Files.isDirectory(release) || fetch(release), "NIXL 1.4.0 could not be fetched with pip");
        List<String> flags = List.of("-Dkvtier.nixl.path=" + release.resolve(LIBRARY));
        try (ChildJvm child = ChildJvm.start(NixlReport.class, flags, folder.toString())) {
            assertThat(child.hear("availability ")).startsWith("NIXL 1.4.0 (");
            assertThat(child.hear("default queue ")).contains("calls failed I/O of its default queue done");
            assertThat(child.hear("whole read ")).isEqualTo("done");
            assertThat(child.hear("short read ")).isEqualTo("SHORT");
            child.hear("end");
            assertThat(child.exitCode()).isZero();
        }
    }

    private boolean fetch(Path release) throws IOException, InterruptedException {
        Path pins = Files.writeString(folder.resolve("pins.txt"), PIN);
        Process pip = new ProcessBuilder(List.of(
                        "python3",
                        "-m",
                        "pip",
                        "download",
                        "--quiet",
                        "--disable-pip-version-check",
                        "--no-deps",
                        "--only-binary",
                        ":all:",
                        "--require-hashes",
                        "--implementation",
                        "cp",
                        "--python-version",
                        "3.11",
                        "--platform",
                        "manylinux_2_28_x86_64",
                        "-r",
                        pins.toString(),
                        "--dest",
                        folder.toString()))
                .inheritIO()
                .start();
        if (!pip.waitFor(300, TimeUnit.SECONDS) || pip.exitValue() != 0) {
            return false;
        }
        Files.createDirectories(release.getParent());
        Path unpacked = Files.createTempDirectory(release.getParent(), ".unpack-");
        try (var wheels = Files.newDirectoryStream(folder, "*.whl")) {
            for (Path wheel : wheels) {
                unpack(wheel, unpacked);
            }
        }
        try {
            Files.move(unpacked, release, StandardCopyOption.ATOMIC_MOVE);
        } catch (FileSystemException e) {
            assertThat(release).as("another run was faster").isDirectory();
        }
        return true;
    }

    /** The library's folders, and the one whose name tells the version. */
    private static void unpack(Path wheel, Path target) throws IOException {
        try (ZipInputStream zip = new ZipInputStream(Files.newInputStream(wheel))) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                if (entry.getName().matches("(\\.nixl_cu13\\.mesonpy\\.libs|nixl_cu13\\.libs|.*dist-info)/.*[^/]")) {
                    Path file = target.resolve(entry.getName());
                    Files.createDirectories(file.getParent());
                    copy(zip, file);
                }
            }
        }
    }

    private static void copy(InputStream from, Path to) throws IOException {
        try (OutputStream out = Files.newOutputStream(to)) {
            from.transferTo(out);
        }
    }
}
