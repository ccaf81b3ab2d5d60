package io.kvtier.tier.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kvtier.object.KeySpaces;
import io.kvtier.object.ObjectKeys;
import io.kvtier.tier.FileTierConfig;
import io.kvtier.tier.StoreOutcome;
import io.kvtier.tier.TestObjects;
import io.kvtier.tier.TierAdapter;
import io.kvtier.tier.TierException;
import io.kvtier.tier.TierException.Reason;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which folders can be opened, and what is said of those that cannot. */
class CacheFolderTest {
    private static final int LENGTH = 5000;

    @TempDir
    Path parent;

    /** Another process that opens a folder, says so, and keeps it until its input ends. */
    static final class Holder {
        private Holder() {}

        /** Opens the folder that is named. */
        public static void main(String[] args) throws IOException {
            try (CacheFolder folder = CacheFolder.open(Path.of(args[0]))) {
                System.out.println("open " + folder.root());
                System.in.read();
            }
        }
    }

    @Test
    void missingFoldersAreMade() throws TierException {
        Path folder = parent.resolve("a/b/c");
        openAndUse(folder);
        assertThat(folder.resolve("objects")).isDirectory();
    }

    @Test
    void spacesInThePath() throws TierException {
        openAndUse(parent.resolve(" a folder/with  spaces "));
    }

    @Test
    void lettersBeyondAsciiInThePath() throws TierException {
        assumeTrue(
                "UTF-8".equalsIgnoreCase(System.getProperty("sun.jnu.encoding")),
                "needs file names in UTF-8 (LC_ALL=C.UTF-8)");
        openAndUse(parent.resolve("späces/и 缓存 🗄"));
    }

    @Test
    void pathThatIsAFileIsNoFolder() throws IOException {
        Path file = Files.writeString(parent.resolve("file"), "content");
        assertThat(failure(file).reason()).isEqualTo(Reason.NO_FOLDER);
        assertThat(failure(file.resolve("below")).reason()).isEqualTo(Reason.NOT_WRITABLE);
        assertThat(file).hasContent("content");
    }

    @Test
    void symbolicLinkToAFolderIsFollowed() throws IOException {
        Path target = Files.createDirectory(parent.resolve("target"));
        openAndUse(Files.createSymbolicLink(parent.resolve("link"), target));
        assertThat(target.resolve("objects")).isDirectory();
    }

    @Test
    void symbolicLinkLoopIsRefused() throws IOException {
        Path link = parent.resolve("loop");
        Files.createSymbolicLink(link, link);
        assertThat(failure(link)).hasMessageContaining(link.toString());
        assertThat(failure(link.resolve("below"))).hasMessageContaining(link.toString());
    }

    @Test
    void newerFolderIsRefusedAndNothingIsWritten() throws IOException {
        Files.writeString(parent.resolve("kvtier-format"), "kvtier file tier, format 2\n");
        Map<String, String> before = snapshot(parent);
        TierException failure = failure(parent);
        assertThat(failure.reason()).isEqualTo(Reason.NEWER_FORMAT);
        assertThat(failure).hasMessageContaining("format 2").hasMessageContaining(parent.toString());
        assertThat(snapshot(parent)).isEqualTo(before);
    }

    @Test
    void tornMarkerIsWrittenAnew() throws IOException {
        for (String torn : new String[] {"", "kvtier file", "kvtier file tier, format x"}) {
            Files.writeString(parent.resolve("kvtier-format"), torn);
            openAndUse(parent);
            assertThat(parent.resolve("kvtier-format")).hasContent("kvtier file tier, format 1\n");
        }
    }

    @Test
    void newerRecordIsRefusedAndNoRecordIsTouched() throws IOException {
        Path record = storeSome(parent);
        Files.writeString(parent.resolve("objects/stray"), "no record");
        Files.writeString(parent.resolve("tmp/leftover"), "half");
        for (int at : new int[] {8, 40, 44}) {
            byte[] whole = Files.readAllBytes(record);
            Files.write(record, with(whole.clone(), at, 2));
            Map<String, String> before = snapshot(parent);
            TierException failure = failure(parent);
            assertThat(failure.reason()).isEqualTo(Reason.NEWER_FORMAT);
            assertThat(failure).hasMessageContaining(record.toString());
            assertThat(snapshot(parent)).isEqualTo(before);
            Files.write(record, whole);
        }
        openAndUse(parent);
    }

    @Test
    void secondOpeningInThisProcessIsRefused() throws TierException {
        try (CacheFolder folder = CacheFolder.open(parent)) {
            TierException failure = failure(folder.root());
            assertThat(failure.reason()).isEqualTo(Reason.IN_USE);
            assertThat(failure)
                    .hasMessageContaining("pid " + ProcessHandle.current().pid() + " on ");
        }
        openAndUse(parent);
    }

    @Test
    void failedOpeningGivesTheLockBack() throws IOException {
        Path record = storeSome(parent);
        byte[] whole = Files.readAllBytes(record);
        Files.write(record, with(whole.clone(), 8, 2));
        assertThat(failure(parent).reason()).isEqualTo(Reason.NEWER_FORMAT);
        assertThat(failure(parent).reason()).isEqualTo(Reason.NEWER_FORMAT);
        Files.write(record, whole);
        openAndUse(parent);
    }

    @Test
    void folderOfAnotherProcessIsRefusedUntilThatIsKilled() throws Exception {
        Path record = storeSome(parent);
        Process holder = startHolder(parent);
        try {
            assertThat(holder.inputReader().readLine()).isEqualTo("open " + parent);
            TierException failure = failure(parent);
            assertThat(failure.reason()).isEqualTo(Reason.IN_USE);
            assertThat(failure).hasMessageContaining("pid " + holder.pid() + " on ");
            assertThat(FileAdapter.keySpaces(parent)).containsExactly(TestObjects.space("salt"));
        } finally {
            holder.destroyForcibly();
        }
        assertThat(holder.waitFor(10, TimeUnit.SECONDS)).isTrue();
        assertThat(record).exists();
        openAndUse(parent);
    }

    @Test
    void fullDeviceIsSaidAtTheOpening() throws Exception {
        try (SmallDevice device = new SmallDevice(parent)) {
            device.fill();
            TierException failure = failure(device.root.resolve("cache"));
            assertThat(failure.reason()).isEqualTo(Reason.FULL);
            assertThat(failure).hasMessageContaining("free some space");
            device.empty();
            openAndUse(device.root.resolve("cache"));
        }
    }

    @Test
    void fullDeviceFailsStoresUntilThereIsSpace() throws Exception {
        KeySpaces spaces = new KeySpaces();
        ObjectKeys keys = TestObjects.keys(spaces, TestObjects.space("salt"), 4);
        try (SmallDevice device = new SmallDevice(parent);
                TierAdapter tier = FileAdapter.open(FileTierConfig.in(device.root.resolve("cache")), spaces)) {
            assertThat(TestObjects.store(tier, keys, 0, LENGTH)).isEqualTo(StoreOutcome.STORED);
            device.fill();
            assertFailsWhole(tier, keys, device.root.resolve("cache"));
            device.empty();
            assertThat(TestObjects.store(tier, keys, 1, LENGTH)).isEqualTo(StoreOutcome.STORED);
            assertThat(tier.status().degraded()).isFalse();
            assertThat(TestObjects.load(tier, keys, 1)).isEqualTo(TestObjects.bytes(1, LENGTH));
        }
    }

    private static void assertFailsWhole(TierAdapter tier, ObjectKeys keys, Path folder) throws IOException {
        long bytes = tier.status().bytes();
        assertThat(TestObjects.store(tier, keys, 1, LENGTH)).isEqualTo(StoreOutcome.FAILED);
        assertThat(tier.status().degraded()).isTrue();
        assertThat(tier.status().fault()).contains("No space left");
        assertThat(tier.status().failures()).isEqualTo(1);
        assertThat(tier.status().bytes()).isEqualTo(bytes);
        assertThat(tier.contains(keys, 1)).isFalse();
        assertThat(folder.resolve("tmp")).isEmptyDirectory();
        assertThat(snapshot(folder.resolve("objects"))).hasSize(1);
        assertThat(TestObjects.load(tier, keys, 0)).isEqualTo(TestObjects.bytes(0, LENGTH));
    }

    private static void openAndUse(Path folder) throws TierException {
        KeySpaces spaces = new KeySpaces();
        ObjectKeys keys = TestObjects.keys(spaces, TestObjects.space("salt"), 1);
        try (TierAdapter tier = FileAdapter.open(FileTierConfig.in(folder), spaces)) {
            assertThat(TestObjects.store(tier, keys, 0, LENGTH)).isIn(StoreOutcome.STORED, StoreOutcome.PRESENT);
            assertThat(TestObjects.load(tier, keys, 0)).isEqualTo(TestObjects.bytes(0, LENGTH));
        }
    }

    /** Leaves one record in a folder and returns its file. */
    private static Path storeSome(Path folder) throws IOException {
        openAndUse(folder);
        try (Stream<Path> paths = Files.walk(folder.resolve("objects"))) {
            return paths.filter(Files::isRegularFile).findFirst().orElseThrow();
        }
    }

    private static TierException failure(Path folder) {
        return catchThrowableOfType(
                TierException.class,
                () -> FileAdapter.open(FileTierConfig.in(folder), new KeySpaces())
                        .close());
    }

    /** Sets a number in a record's header and makes the header's checksum right again. */
    private static byte[] with(byte[] record, int at, int value) {
        ByteBuffer buffer = ByteBuffer.wrap(record).order(ByteOrder.LITTLE_ENDIAN);
        buffer.putInt(at, value).putInt(16, 0);
        CRC32C crc = new CRC32C();
        crc.update(record, 0, 4096);
        buffer.putInt(16, (int) crc.getValue());
        return record;
    }

    /** Returns all files below a folder with content and time of change; the lock's file only by its name. */
    private static Map<String, String> snapshot(Path folder) throws IOException {
        Map<String, String> files = new TreeMap<>();
        try (Stream<Path> paths = Files.walk(folder)) {
            for (Path path : paths.filter(Files::isRegularFile).toList()) {
                boolean lock = path.endsWith(CacheFolder.LOCK);
                String content =
                        java.util.Arrays.hashCode(Files.readAllBytes(path)) + " at " + Files.getLastModifiedTime(path);
                files.put(folder.relativize(path).toString(), lock ? "" : content);
            }
        }
        return files;
    }

    private static Process startHolder(Path folder) throws IOException, URISyntaxException {
        URI self = CacheFolderTest.class.getResource("CacheFolderTest.class").toURI();
        Path testClasses = Path.of(self).resolve("../../../../..").normalize();
        String classPath = String.join(
                File.pathSeparator,
                testClasses.toString(),
                System.getProperty("jdk.module.path", ""),
                System.getProperty("java.class.path", ""));
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-Dfile.encoding=UTF-8",
                        "-cp",
                        classPath,
                        Holder.class.getName(),
                        folder.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    /** A file system of 256 KiB; the test is skipped where this user may not mount one. */
    private static final class SmallDevice implements AutoCloseable {
        final Path root;
        private final Path ballast;

        SmallDevice(Path parent) throws IOException {
            root = Files.createDirectory(parent.resolve("device"));
            ballast = root.resolve("ballast");
            assumeTrue(
                    run("mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", root.toString()),
                    "needs the right to mount a tmpfs, to have a full device");
        }

        void fill() throws IOException {
            try (OutputStream out = Files.newOutputStream(ballast)) {
                for (int i = 0; i < 1000; i++) {
                    out.write(new byte[4096]);
                }
                throw new IllegalStateException("the device of 256 KiB took 4 MiB");
            } catch (IOException full) {
                assertThat(full).hasMessageContaining("No space left");
            }
        }

        void empty() throws IOException {
            Files.delete(ballast);
        }

        @Override
        public void close() throws IOException {
            if (!run("umount", root.toString())) {
                throw new IOException(root + " could not be unmounted");
            }
        }

        private static boolean run(String... command) {
            try {
                Process process = new ProcessBuilder(command)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start();
                return process.onExit().join().exitValue() == 0;
            } catch (IOException noSuchCommand) {
                return false;
            }
        }
    }
}
