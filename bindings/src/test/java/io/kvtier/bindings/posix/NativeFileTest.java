package io.kvtier.bindings.posix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kvtier.bindings.Hold;
import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.posix.NativeFile.Option;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@EnabledOnOs(OS.LINUX)
class NativeFileTest {
    private static final Option[] FRESH = {Option.READ, Option.WRITE, Option.CREATE, Option.EXCLUSIVE};

    @TempDir
    Path folder;

    @AfterEach
    void nothingIsLeftOpen() {
        assertThat(NativeHandles.live()).isEmpty();
    }

    @Test
    void whatIsWrittenIsRead() throws IOException {
        try (NativeFile file = fresh("file");
                Arena arena = Arena.ofConfined()) {
            file.write(text(arena, "0123456789"), 3);
            MemorySegment back = arena.allocate(13);
            assertThat(file.read(back, 0)).isEqualTo(13);
            assertThat(bytes(back)).containsExactly(0, 0, 0, '0', '1', '2', '3', '4', '5', '6', '7', '8', '9');
            assertThat(file.size()).isEqualTo(13);
        }
        assertThat(Files.readString(folder.resolve("file"))).endsWith("0123456789");
    }

    @Test
    void readStopsShortAtTheEndOfTheFile() {
        try (NativeFile file = fresh("file");
                Arena arena = Arena.ofConfined()) {
            file.write(text(arena, "abcdef"), 0);
            MemorySegment back = arena.allocate(100);
            assertThat(file.read(back, 0)).isEqualTo(6);
            assertThat(file.read(back, 4)).isEqualTo(2);
            assertThat(file.read(back, 6)).isZero();
            assertThat(file.read(back, 1_000_000)).isZero();
            assertThat(file.read(arena.allocate(0), 0)).isZero();
        }
    }

    @Test
    void partsOfBuffersAreWrittenAndRead() {
        try (NativeFile file = fresh("file");
                Arena arena = Arena.ofConfined()) {
            file.write(text(arena, "abcdefgh"), 2, 3, 10);
            MemorySegment back = arena.allocate(8).fill((byte) '.');
            assertThat(file.read(back, 4, 4, 10)).isEqualTo(3);
            assertThat(string(back)).isEqualTo("....cde.");
        }
    }

    @Test
    void manyBuffersAreOneTransfer() {
        int count = 2500;
        try (NativeFile file = fresh("file");
                Arena arena = Arena.ofConfined()) {
            IoVectors vectors = IoVectors.ofCapacity(count);
            MemorySegment all = arena.allocate(7L * count);
            for (int i = 0; i < count; i++) {
                vectors.add(all.asSlice(7L * i, i % 8 == 7 ? 0 : 7).fill((byte) i));
            }
            long bytes = vectors.bytes();
            file.write(vectors, 5);
            assertThat(file.size()).isEqualTo(5 + bytes);
            MemorySegment written = arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes(all));
            all.fill((byte) 0);
            assertThat(file.read(vectors, 5)).isEqualTo(bytes);
            assertThat(all.mismatch(written)).isEqualTo(-1);
            all.fill((byte) 0);
            assertThat(file.read(vectors, 5)).as("the list is reusable").isEqualTo(bytes);
            assertThat(all.mismatch(written)).isEqualTo(-1);
            assertThat(file.read(vectors, 12)).as("short at the end").isEqualTo(bytes - 7);
            vectors.clear();
            assertThat(file.read(vectors, 0)).isZero();
        }
    }

    @Test
    void shortTransfersGoOnInTheMiddleOfABuffer() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment all = arena.allocate(60);
            IoVectors vectors = IoVectors.ofCapacity(4);
            vectors.add(all.asSlice(0, 10))
                    .add(all.asSlice(10, 0))
                    .add(all.asSlice(10, 20))
                    .add(all.asSlice(30, 30));
            vectors.advance(4);
            assertThat(entry(vectors, 0)).containsExactly(all.address() + 4, 6L);
            vectors.advance(6);
            assertThat(entry(vectors, 0)).containsExactly(all.address() + 10, 20L);
            assertThat(vectors.restCount()).isEqualTo(2);
            vectors.advance(25);
            assertThat(entry(vectors, 0)).containsExactly(all.address() + 35, 25L);
            vectors.advance(1);
            assertThat(entry(vectors, 0)).containsExactly(all.address() + 36, 24L);
            vectors.rewind();
            assertThat(vectors.restCount()).isEqualTo(4);
            assertThat(entry(vectors, 0)).containsExactly(all.address(), 10L);
            assertThat(entry(vectors, 2)).containsExactly(all.address() + 10, 20L);
            assertThat(entry(vectors, 3)).containsExactly(all.address() + 30, 30L);
        }
    }

    @Test
    void holesGiveSpaceBackAndReadAsZeros() throws IOException {
        long mib = 1 << 20;
        try (NativeFile file = fresh("file");
                Arena arena = Arena.ofConfined()) {
            MemorySegment data = arena.allocate(4 * mib).fill((byte) 7);
            file.write(data, 0);
            file.sync();
            long before = allocated();
            file.punchHole(mib, mib);
            file.sync();
            assertThat(allocated()).isEqualTo(before - mib);
            file.read(data, 0);
            assertThat(data.asSlice(mib, mib).mismatch(arena.allocate(mib))).isEqualTo(-1);
            assertThat(data.get(ValueLayout.JAVA_BYTE, mib - 1)).isEqualTo((byte) 7);
            assertThat(data.get(ValueLayout.JAVA_BYTE, 2 * mib)).isEqualTo((byte) 7);
            file.allocate(6 * mib, mib);
            assertThat(file.size()).isEqualTo(7 * mib);
            file.truncate(100);
            assertThat(file.size()).isEqualTo(100);
            file.truncate(mib);
            file.dataSync();
            file.dropCached(0, mib);
            assertThat(file.read(data, 0)).isEqualTo(mib);
            assertThat(data.get(ValueLayout.JAVA_BYTE, 100)).isZero();
            assertThat(data.get(ValueLayout.JAVA_BYTE, 99)).isEqualTo((byte) 7);
        }
    }

    @Test
    void zeroedRangesReadAsZerosOrTheFileSystemSaysThatItCannot() {
        try (NativeFile file = fresh("file");
                Arena arena = Arena.ofConfined()) {
            file.write(arena.allocate(8192).fill((byte) 1), 0);
            try {
                file.zeroRange(100, 5000);
            } catch (PosixException e) {
                assertThat(e.codeName()).isEqualTo("EOPNOTSUPP");
                return;
            }
            MemorySegment back = arena.allocate(8192);
            file.read(back, 0);
            assertThat(back.get(ValueLayout.JAVA_BYTE, 99)).isEqualTo((byte) 1);
            assertThat(back.asSlice(100, 5000).mismatch(arena.allocate(5000))).isEqualTo(-1);
            assertThat(back.get(ValueLayout.JAVA_BYTE, 5100)).isEqualTo((byte) 1);
        }
    }

    @Test
    void directReadsEndWhereTheFileEnds() throws IOException {
        Path path = Files.write(folder.resolve("direct"), new byte[10_000]);
        NativeFile opened;
        try {
            opened = NativeFile.open(path, Option.READ, Option.DIRECT);
        } catch (PosixException e) {
            assertThat(e.codeName()).as("a file system without O_DIRECT").isEqualTo("EINVAL");
            return;
        }
        try (NativeFile file = opened;
                Arena arena = Arena.ofConfined()) {
            assertThat(file.isDirect()).isTrue();
            assertThat(file.read(arena.allocate(16_384, 4096), 0)).isEqualTo(10_000);
            assertThat(file.read(arena.allocate(16_384, 4096), 8192)).isEqualTo(1808);
            assertThat(file.read(arena.allocate(16_384, 4096), 12_288)).isZero();
            IoVectors vectors = IoVectors.ofCapacity(4);
            for (int i = 0; i < 4; i++) {
                vectors.add(arena.allocate(4096, 4096));
            }
            assertThat(file.read(vectors, 0)).isEqualTo(10_000);
        }
    }

    @Test
    void fullDeviceIsNamed() {
        try (NativeFile file = NativeFile.open(Path.of("/dev/full"), Option.WRITE);
                Arena arena = Arena.ofConfined()) {
            MemorySegment data = arena.allocate(4096);
            PosixException e = catchThrowableOfType(PosixException.class, () -> file.write(data, 512));
            assertThat(e.function()).isEqualTo("pwrite");
            assertThat(e.codeName()).isEqualTo("ENOSPC");
            assertThat(e.code()).isEqualTo(28);
            assertThat(e.getMessage()).contains("/dev/full", "4096 bytes at 512");
            assertThatThrownBy(() -> file.write(IoVectors.ofCapacity(1).add(data), 0))
                    .isInstanceOf(PosixException.class)
                    .hasMessageContaining("pwritev failed with ENOSPC");
        }
    }

    @Test
    void fullFileSystemIsNamedAndTakesWritesAgainWhenThereIsSpace() throws Exception {
        Path small = Files.createDirectory(folder.resolve("small"));
        Process mount = new ProcessBuilder("mount", "-t", "tmpfs", "-o", "size=1m", "kvtier-test", small.toString())
                .redirectErrorStream(true)
                .start();
        Assumptions.assumeTrue(mount.waitFor() == 0, "only root can mount a small file system");
        try (NativeFile file = NativeFile.open(small.resolve("file"), FRESH);
                Arena arena = Arena.ofConfined()) {
            MemorySegment data = arena.allocate(2 << 20).fill((byte) 1);
            assertThatThrownBy(() -> file.write(data, 0)).hasMessageContaining("pwrite failed with ENOSPC");
            assertThat(file.size()).as("a part was written").isEqualTo(1 << 20);
            assertThatThrownBy(() -> file.allocate(1 << 20, 4096)).hasMessageContaining("fallocate failed with ENOSPC");
            file.punchHole(0, 8192);
            file.write(data, 0, 8192, 0);
            assertThat(FileSystemInfo.of(small).availableBytes()).isZero();
        } finally {
            assertThat(new ProcessBuilder("umount", small.toString()).start().waitFor())
                    .isZero();
        }
    }

    @Test
    void blockSizeIsOfBlockDevicesOnly() {
        try (NativeFile file = fresh("file")) {
            assertThat(file.blockBytes()).isEmpty();
        }
    }

    @Test
    void systemsRefusalsNameCallAndPath() throws IOException {
        Path there = Files.createFile(folder.resolve("there"));
        assertThatThrownBy(() -> NativeFile.open(folder.resolve("missing"), Option.READ))
                .isInstanceOf(PosixException.class)
                .hasMessageContaining("open failed with ENOENT (2)")
                .hasMessageContaining("missing");
        assertThatThrownBy(() -> NativeFile.open(there, FRESH)).hasMessageContaining("EEXIST");
        assertThatThrownBy(() -> NativeFile.open(folder, Option.WRITE)).hasMessageContaining("EISDIR");
        assertThatThrownBy(() -> NativeFile.open(there.resolve("below"))).hasMessageContaining("ENOTDIR");
        try (NativeFile file = NativeFile.open(there);
                Arena arena = Arena.ofConfined()) {
            assertThatThrownBy(() -> file.write(arena.allocate(1), 0)).hasMessageContaining("pwrite failed with EBADF");
            assertThatThrownBy(() -> file.truncate(1)).hasMessageContaining("ftruncate failed with EINVAL");
            assertThatThrownBy(() -> file.punchHole(0, 1)).hasMessageContaining("fallocate failed with EBADF");
        }
    }

    @Test
    void badInputIsRefusedBeforeNativeCodeSeesIt() {
        Arena closed = Arena.ofConfined();
        MemorySegment gone = closed.allocate(10);
        closed.close();
        try (NativeFile file = fresh("file");
                Arena arena = Arena.ofConfined()) {
            MemorySegment data = arena.allocate(10);
            assertThatThrownBy(() -> file.read(data, -1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("-1");
            assertThatThrownBy(() -> file.write(data, -1)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> file.read(data, 5, 6, 0)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> file.write(data, -1, 2, 0)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> file.read(data.asReadOnly(), 0))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("read-only");
            assertThatThrownBy(() -> file.read(MemorySegment.ofArray(new byte[10]), 0))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("heap");
            assertThatThrownBy(() -> file.write(gone, 0))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("closed");
            assertThatThrownBy(() -> file.punchHole(0, 0)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> file.allocate(-1, 5)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> file.truncate(-1)).isInstanceOf(IllegalArgumentException.class);
            assertThat(file.size()).isZero();
        }
        assertThatThrownBy(() -> NativeFile.open(folder.resolve("x"), Option.WRITE, Option.EXCLUSIVE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("CREATE");
        assertThatThrownBy(() -> NativeFile.open(folder.resolve("x"), Option.READ, Option.CREATE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("WRITE");
    }

    @Test
    void badListsOfBuffersAreRefused() {
        assertThatThrownBy(() -> IoVectors.ofCapacity(0)).isInstanceOf(IllegalArgumentException.class);
        IoVectors vectors = IoVectors.ofCapacity(1);
        assertThatThrownBy(() -> vectors.add(MemorySegment.ofArray(new byte[1])))
                .isInstanceOf(IllegalArgumentException.class);
        try (NativeFile file = fresh("file")) {
            try (Arena arena = Arena.ofConfined()) {
                vectors.add(arena.allocate(8).asReadOnly());
                assertThatThrownBy(() -> vectors.add(arena.allocate(8)))
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("room for 1");
                file.write(vectors, 0);
                assertThatThrownBy(() -> file.read(vectors, 0)).hasMessageContaining("read-only");
            }
            assertThatThrownBy(() -> file.write(vectors, 0)).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void closedFileRefusesEveryUse() {
        NativeFile file = fresh("file");
        file.close();
        file.close();
        assertThat(file.isClosed()).isTrue();
        assertThat(file.toString()).contains("closed");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment data = arena.allocate(1);
            assertThatThrownBy(() -> file.read(data, 0))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("the file " + folder.resolve("file") + " is closed");
            assertThatThrownBy(() -> file.write(data, 0)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(file::size).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(file::descriptor).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(file::hold).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(file::dataSync).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(file::blockBytes).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void heldFileStaysOpen() {
        NativeFile file = fresh("file");
        Hold hold = file.hold();
        assertThatThrownBy(file::close)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("1 holders");
        assertThat(file.size()).isZero();
        hold.close();
        hold.close();
        file.close();
        assertThat(file.isClosed()).isTrue();
    }

    @Test
    void nonAsciiNamesReachTheSystemAsTheJvmWritesThem() throws IOException {
        String name = "space and Z\u00fcrich";
        if (!StandardCharsets.UTF_8.name().equals(System.getProperty("sun.jnu.encoding"))) {
            name = "space only";
        }
        Path path = folder.resolve(name);
        NativeFile.open(path, FRESH).close();
        assertThat(Files.exists(path)).isTrue();
    }

    private NativeFile fresh(String name) {
        return NativeFile.open(folder.resolve(name), FRESH);
    }

    /** Returns what the file takes of the disk. */
    private long allocated() throws IOException {
        Process stat =
                new ProcessBuilder("stat", "-c", "%b", folder.resolve("file").toString()).start();
        try (var output = stat.inputReader()) {
            return 512 * Long.parseLong(output.readLine());
        }
    }

    private static long[] entry(IoVectors vectors, int index) {
        MemorySegment rest = vectors.rest();
        return new long[] {
            rest.get(ValueLayout.JAVA_LONG, 16L * index), rest.get(ValueLayout.JAVA_LONG, 16L * index + 8)
        };
    }

    static MemorySegment text(Arena arena, String text) {
        return arena.allocateFrom(ValueLayout.JAVA_BYTE, text.getBytes(StandardCharsets.US_ASCII));
    }

    static byte[] bytes(MemorySegment segment) {
        return segment.toArray(ValueLayout.JAVA_BYTE);
    }

    static String string(MemorySegment segment) {
        return new String(bytes(segment), StandardCharsets.US_ASCII);
    }
}
