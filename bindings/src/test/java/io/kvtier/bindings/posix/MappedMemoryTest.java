package io.kvtier.bindings.posix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvtier.bindings.Hold;
import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.posix.NativeFile.Option;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@EnabledOnOs(OS.LINUX)
class MappedMemoryTest {
    private static final long MIB = 1 << 20;
    private static final String OPENER = "kvtier-opener";

    @TempDir
    Path folder;

    @AfterEach
    void nothingIsLeftOpen() {
        assertThat(NativeHandles.live()).isEmpty();
        assertThat(MappedMemory.liveBytes()).isZero();
    }

    @Test
    void anonymousMemoryIsZerosAndCanBeWritten() {
        try (MappedMemory memory = MappedMemory.anonymous(10_000)) {
            MemorySegment segment = memory.segment();
            assertThat(segment.byteSize()).isEqualTo(10_000);
            assertThat(segment.address() % Posix.pageBytes()).isZero();
            assertThat(MappedMemory.liveBytes()).isEqualTo(10_000);
            assertThat(segment.get(ValueLayout.JAVA_BYTE, 9_999)).isZero();
            segment.fill((byte) 1);
            assertThat(segment.get(ValueLayout.JAVA_BYTE, 9_999)).isEqualTo((byte) 1);
            assertThat(memory.toString()).contains("10000 anonymous bytes");
        }
    }

    @Test
    void largeMemoryTakesNothingUntilItIsTouched() throws IOException {
        long before = residentBytes();
        try (MappedMemory memory = MappedMemory.anonymous(64L << 30, MappedMemory.Option.NO_RESERVE)) {
            assertThat(residentBytes() - before).isLessThan(512 * MIB);
            assertThat(memory.segment().get(ValueLayout.JAVA_LONG, (64L << 30) - 8))
                    .isZero();
        }
    }

    @Test
    void alignmentIsKeptAndNothingAroundItIsLeftMapped() throws IOException {
        for (long alignment = 4096; alignment <= 1L << 30; alignment *= 8) {
            long mapped = mappedBytes();
            MappedMemory memory = MappedMemory.anonymous(3 * 4096, alignment, MappedMemory.Option.NO_RESERVE);
            assertThat(memory.segment().address() % alignment).isZero();
            assertThat(mappedBytes() - mapped).isLessThan(64 * MIB);
            memory.close();
        }
    }

    @Test
    void populatedMemoryIsThere() throws IOException {
        long before = residentBytes();
        try (MappedMemory _ = MappedMemory.anonymous(256 * MIB, MappedMemory.Option.POPULATE)) {
            assertThat(residentBytes() - before).isGreaterThan(128 * MIB);
        }
        assertThat(residentBytes() - before).isLessThan(128 * MIB);
    }

    @Test
    void adviceIsTaken() throws IOException {
        try (MappedMemory memory = MappedMemory.anonymous(64 * MIB, 2 * MIB)) {
            for (Advice advice : Advice.values()) {
                memory.advise(advice);
            }
            memory.segment().fill((byte) 3);
            long full = residentBytes();
            memory.advise(Advice.DONT_NEED, 4096, 63 * MIB);
            assertThat(memory.segment().get(ValueLayout.JAVA_BYTE, 4095)).isEqualTo((byte) 3);
            assertThat(memory.segment().get(ValueLayout.JAVA_BYTE, 4096)).isZero();
            assertThat(full - residentBytes()).isGreaterThan(32 * MIB);
            assertThatThrownBy(() -> memory.advise(Advice.NORMAL, 10, 10))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("offset 10");
            assertThatThrownBy(() -> memory.advise(Advice.NORMAL, 4096, 64 * MIB))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void lockedMemoryIsCounted() throws IOException {
        long locked = status("VmLck:");
        try (MappedMemory memory = MappedMemory.anonymous(64 * 1024)) {
            memory.lock();
            assertThat(status("VmLck:") - locked).isEqualTo(64 * 1024);
            memory.unlock(0, 32 * 1024);
            assertThat(status("VmLck:") - locked).isEqualTo(32 * 1024);
        }
        assertThat(status("VmLck:")).isEqualTo(locked);
    }

    @Test
    void hugePagesAreMappedOrTheErrorSaysHowToReserveThem() {
        long size = 2 * MIB;
        if (!Posix.hugePageSizes().contains(size)) {
            assertThatThrownBy(() -> MappedMemory.hugePages(size, size)).isInstanceOf(IllegalArgumentException.class);
            return;
        }
        try (MappedMemory memory = MappedMemory.hugePages(2 * size, size)) {
            memory.segment().fill((byte) 1);
            assertThat(memory.segment().address() % size).isZero();
        } catch (PosixException e) {
            assertThat(e.codeName()).isEqualTo("ENOMEM");
            assertThat(e.getMessage()).contains("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages");
        }
        assertThatThrownBy(() -> MappedMemory.hugePages(size + 1, size)).hasMessageContaining("no multiple");
        assertThatThrownBy(() -> MappedMemory.hugePages(size, 12_345)).hasMessageContaining("the kernel knows");
    }

    @Test
    void fileIsMappedAndSeesWrites() throws IOException {
        Path path = Files.write(folder.resolve("file"), new byte[20_000]);
        try (NativeFile file = NativeFile.open(path, Option.READ, Option.WRITE);
                Arena arena = Arena.ofConfined();
                MappedMemory writable = MappedMemory.ofFile(file, 4096, 10_000, true);
                MappedMemory readable = MappedMemory.ofFile(file, 0, 20_000, false)) {
            writable.segment().set(ValueLayout.JAVA_BYTE, 9_999, (byte) 42);
            assertThat(readable.segment().get(ValueLayout.JAVA_BYTE, 4096 + 9_999))
                    .isEqualTo((byte) 42);
            file.write(NativeFileTest.text(arena, "x"), 0);
            assertThat(readable.segment().get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 'x');
            assertThat(readable.segment().isReadOnly()).isTrue();
            assertThatThrownBy(() -> MappedMemory.ofFile(file, 1, 10, false)).hasMessageContaining("multiples");
            assertThatThrownBy(() -> MappedMemory.ofFile(file, 4096, 20_000, false))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("20000 bytes");
        }
        try (NativeFile file = NativeFile.open(path)) {
            assertThatThrownBy(() -> MappedMemory.ofFile(file, 0, 100, true))
                    .isInstanceOf(PosixException.class)
                    .hasMessageContaining("mmap failed with EACCES");
        }
    }

    @Test
    void impossibleSizesAndAlignmentsAreRefused() {
        for (long bad : new long[] {0, -1, Long.MIN_VALUE}) {
            assertThatThrownBy(() -> MappedMemory.anonymous(bad))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(String.valueOf(bad));
        }
        for (long bad : new long[] {0, -4096, 1, 2048, 4097, 12_288}) {
            assertThatThrownBy(() -> MappedMemory.anonymous(4096, bad))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(String.valueOf(bad));
        }
        assertThatThrownBy(() -> MappedMemory.anonymous(1L << 60))
                .isInstanceOf(PosixException.class)
                .hasMessageContaining("mmap failed with ENOMEM (12)")
                .hasMessageContaining("1152921504606846976");
        assertThatThrownBy(() -> MappedMemory.anonymous(Long.MAX_VALUE)).isInstanceOf(ArithmeticException.class);
    }

    @Test
    void closedMemoryIsInvalidForEveryThread() throws Exception {
        MappedMemory memory = MappedMemory.anonymous(MIB);
        AtomicReference<Throwable> failure = new AtomicReference<>();
        CountDownLatch reading = new CountDownLatch(1);
        Thread reader = Thread.ofPlatform().start(() -> {
            try {
                for (long sum = 0; sum >= 0; ) {
                    sum += memory.segment().get(ValueLayout.JAVA_BYTE, 5);
                    reading.countDown();
                }
            } catch (IllegalStateException e) {
                failure.set(e);
            }
        });
        assertThat(reading.await(60, TimeUnit.SECONDS)).isTrue();
        memory.close();
        memory.close();
        reader.join(60_000);
        assertThat(failure.get()).hasMessageContaining("losed");
        assertThat(memory.isClosed()).isTrue();
        assertThatThrownBy(() -> memory.advise(Advice.NORMAL)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(memory::lock).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(memory::hold).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void heldMemoryStaysMapped() {
        MappedMemory memory = MappedMemory.anonymous(4096);
        try (Hold _ = memory.hold()) {
            assertThatThrownBy(memory::close)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("stays open");
            memory.segment().fill((byte) 1);
        }
        memory.close();
        assertThat(memory.isClosed()).isTrue();
    }

    @Test
    void memoryInANativeCallStaysMapped() throws Exception {
        Path path = folder.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", path.toString()).start().waitFor())
                .isZero();
        MappedMemory memory = MappedMemory.anonymous(4096);
        memory.segment().setString(0, path.toString());
        // Opening a pipe for reading waits for a writer; the mapped memory has its path and is in use as long.
        Thread opener = Thread.ofPlatform()
                .name(OPENER)
                .start(() -> PosixNative.close(PosixNative.open(memory.segment(), 0, 0)));
        try {
            awaitBlocked(opener);
            assertThatThrownBy(memory::close)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("a native call uses it");
            assertThat(memory.isClosed()).isFalse();
        } finally {
            NativeFile.open(path, Option.READ, Option.WRITE).close();
            opener.join(60_000);
        }
        memory.close();
    }

    /** Waits until a thread is blocked in the kernel, as the JVM does not see it. */
    private static void awaitBlocked(Thread thread) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        for (int times = 0; times < 50; ) {
            assertThat(System.nanoTime()).as("60 seconds").isLessThan(deadline);
            times = thread.getState() == Thread.State.RUNNABLE && sleeps(thread.getName()) ? times + 1 : 0;
        }
    }

    private static boolean sleeps(String name) throws IOException {
        try (Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
            for (Path task : tasks.toList()) {
                if (Files.readString(task.resolve("comm")).strip().equals(name)) {
                    return Files.readString(task.resolve("stat")).contains(") S ");
                }
            }
        }
        return false;
    }

    private static long residentBytes() throws IOException {
        return status("VmRSS:");
    }

    private static long mappedBytes() throws IOException {
        return status("VmSize:");
    }

    static long status(String field) throws IOException {
        List<String> lines = Files.readAllLines(Path.of("/proc/self/status"));
        String line =
                lines.stream().filter(l -> l.startsWith(field)).findFirst().orElseThrow();
        return 1024
                * Long.parseLong(
                        line.substring(field.length()).replace("kB", "").strip());
    }
}
