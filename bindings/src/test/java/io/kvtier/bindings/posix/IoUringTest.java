package io.kvtier.bindings.posix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvtier.bindings.Availability;
import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.posix.NativeFile.Option;
import io.kvtier.bindings.posix.generated.PosixApi;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@EnabledOnOs(OS.LINUX)
class IoUringTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    @TempDir
    Path folder;

    private final Map<Long, Integer> results = new TreeMap<>();

    @BeforeEach
    void rings() {
        Assumptions.assumeTrue(
                IoUring.availability().isAvailable(), IoUring.availability().toString());
    }

    @AfterEach
    void nothingIsLeftOpen() {
        assertThat(NativeHandles.live()).isEmpty();
        assertThat(MappedMemory.liveBytes()).isZero();
    }

    @Test
    void everyOperationWorks() throws IOException {
        try (NativeFile file = file();
                IoUring ring = IoUring.open(8, 16);
                Arena arena = Arena.ofConfined()) {
            MemorySegment data = arena.allocate(10_000).fill((byte) 5);
            assertThat(ring.write(file, data, 100, 1)).isTrue();
            assertThat(ring.nop(Long.MIN_VALUE)).isTrue();
            assertThat(ring.inFlight()).isEqualTo(2);
            assertThat(ring.await(2, LONG, results::put)).isEqualTo(2);
            assertThat(results).containsExactly(Map.entry(Long.MIN_VALUE, 0), Map.entry(1L, 10_000));
            assertThat(ring.inFlight()).isZero();

            MemorySegment back = arena.allocate(20_000);
            assertThat(one(ring, ring.read(file, back, 100, 2), 2)).isEqualTo(10_000);
            assertThat(back.asSlice(0, 10_000).mismatch(data)).isEqualTo(-1);
            assertThat(one(ring, ring.read(file, back, 10_090, 3), 3))
                    .as("short at the end")
                    .isEqualTo(10);
            assertThat(one(ring, ring.read(file, back, 10_100, 4), 4)).isZero();
            assertThat(one(ring, ring.sync(file, 5), 5)).isZero();
            assertThat(one(ring, ring.dataSync(file, 6), 6)).isZero();
            assertThat(one(ring, ring.allocate(file, 0, 50_000, 7), 7)).isZero();
            assertThat(file.size()).isEqualTo(50_000);
            assertThat(one(ring, ring.punchHole(file, 0, 8192, 8), 8)).isZero();

            IoVectors vectors =
                    IoVectors.ofCapacity(3).add(back.asSlice(0, 200)).add(back.asSlice(9000, 9000));
            assertThat(one(ring, ring.read(file, vectors, 8000, 9), 9)).isEqualTo(9200);
            assertThat(back.get(ValueLayout.JAVA_BYTE, 191)).as("in the hole").isZero();
            assertThat(back.get(ValueLayout.JAVA_BYTE, 192)).as("behind it").isEqualTo((byte) 5);
            assertThat(one(ring, ring.write(file, vectors, 60_000, 10), 10)).isEqualTo(9200);
            assertThat(file.size()).isEqualTo(69_200);
        }
    }

    @Test
    void failuresAreResults() {
        try (NativeFile full = NativeFile.open(Path.of("/dev/full"), Option.WRITE);
                NativeFile readable = NativeFile.open(Path.of("/dev/zero"));
                IoUring ring = IoUring.open(4, 4);
                Arena arena = Arena.ofConfined()) {
            MemorySegment data = arena.allocate(16);
            int result = one(ring, ring.write(full, data, 0, 1), 1);
            PosixException e = IoUring.failure("write", result, "/dev/full, 16 bytes at 0");
            assertThat(e).hasMessage("io_uring write failed with ENOSPC (28): /dev/full, 16 bytes at 0");
            assertThat(IoUring.failure("write", one(ring, ring.write(readable, data, 0, 2), 2), "")
                            .codeName())
                    .isEqualTo("EBADF");
        }
        assertThatThrownBy(() -> IoUring.failure("read", 5, "")).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void fullQueueRefusesUntilItIsSubmitted() {
        try (IoUring ring = IoUring.open(4, 10)) {
            for (int i = 0; i < 4; i++) {
                assertThat(ring.nop(i)).isTrue();
            }
            assertThat(ring.nop(4)).isFalse();
            assertThat(ring.submit()).isEqualTo(4);
            assertThat(ring.submit()).isZero();
            for (int i = 4; i < 8; i++) {
                assertThat(ring.nop(i)).isTrue();
            }
            assertThat(ring.submit()).isEqualTo(4);
            assertThat(ring.nop(8)).isTrue();
            assertThat(ring.nop(9)).isTrue();
            assertThat(ring.nop(10)).as("10 are under way").isFalse();
            assertThat(ring.inFlight()).isEqualTo(10);
            assertThat(ring.await(10, LONG, results::put)).isEqualTo(10);
            assertThat(results).hasSize(10);
            assertThat(ring.nop(10)).isTrue();
        }
    }

    @Test
    void completionsBeyondTheQueueAreKeptByTheKernel() {
        int count = 1000;
        try (IoUring ring = IoUring.open(4, count, 8, true)) {
            for (int i = 0; i < count; i++) {
                if (!ring.nop(i)) {
                    ring.submit();
                    assertThat(ring.nop(i)).as("operation %d", i).isTrue();
                }
            }
            ring.submit();
            assertThat(ring.inFlight()).isEqualTo(count);
            int polled = ring.poll(results::put);
            assertThat(polled + ring.await(count - polled, LONG, results::put)).isEqualTo(count);
            assertThat(results).hasSize(count);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void waitEndsWhenItsTimeIsOver(boolean timedWaits) throws Exception {
        try (NativeFile pipe = pipe();
                IoUring ring = IoUring.open(4, 8, 8, timedWaits);
                Arena arena = Arena.ofShared()) {
            MemorySegment target = arena.allocate(100);
            assertThat(ring.read(pipe, target, 0, 1)).isTrue();
            long start = System.nanoTime();
            assertThat(ring.await(1, Duration.ofMillis(50), results::put)).isZero();
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(50_000_000);
            assertThat(ring.await(0, LONG, results::put)).isZero();
            assertThat(ring.await(1, Duration.ZERO, results::put)).isZero();
            ring.nop(2);
            assertThat(ring.await(1, LONG, results::put)).isEqualTo(1);
            assertThat(ring.await(5, Duration.ofMillis(50), results::put)).isZero();
            feed(pipe, "abc");
            assertThat(ring.await(1, LONG, results::put)).isEqualTo(1);
            assertThat(results).containsExactly(Map.entry(1L, 3), Map.entry(2L, 0));
            assertThat(NativeFileTest.string(target.asSlice(0, 3))).isEqualTo("abc");
            assertThat(ring.await(1, LONG, results::put))
                    .as("nothing is under way")
                    .isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void waitWakesWhenAnotherThreadBringsData(boolean timedWaits) throws Exception {
        try (NativeFile pipe = pipe();
                IoUring ring = IoUring.open(4, 8, 8, timedWaits);
                Arena arena = Arena.ofConfined()) {
            MemorySegment target = arena.allocate(100);
            for (int round = 1; round <= 20; round++) {
                ring.read(pipe, target, 0, round);
                Thread feeder = Thread.ofPlatform().start(() -> feed(pipe, "x"));
                assertThat(ring.await(1, LONG, results::put)).isEqualTo(1);
                feeder.join();
                assertThat(results).containsEntry((long) round, 1);
            }
        }
    }

    @Test
    void cancelledOperationIsCompletedAsSuch() throws Exception {
        try (NativeFile pipe = pipe();
                IoUring ring = IoUring.open(4, 8);
                Arena arena = Arena.ofConfined()) {
            ring.read(pipe, arena.allocate(8), 0, 77);
            ring.read(pipe, arena.allocate(8), 0, 78);
            assertThat(ring.cancel(79)).isFalse();
            assertThat(ring.cancel(77)).isTrue();
            assertThat(ring.await(1, LONG, results::put)).isEqualTo(1);
            assertThat(IoUring.failure("read", results.get(77L), "").codeName()).isEqualTo("ECANCELED");
            assertThat(ring.cancel(77)).isFalse();
            assertThat(ring.inFlight()).isEqualTo(1);
            ring.cancel(78);
            ring.await(1, LONG, results::put);
        }
    }

    @Test
    void ringWithAnOperationUnderWayStaysOpen() throws Exception {
        NativeFile pipe = pipe();
        IoUring ring = IoUring.open(4, 8);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment target = arena.allocate(8);
            ring.read(pipe, target, 0, 1);
            ring.submit();
            assertThat(ring.tryClose(TimeUnit.MILLISECONDS.toNanos(20))).isFalse();
            assertThatThrownBy(pipe::close)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("stays open");
            feed(pipe, "late");
            assertThat(ring.await(1, LONG, results::put)).isEqualTo(1);
            assertThat(NativeFileTest.string(target.asSlice(0, 4))).isEqualTo("late");
            ring.read(pipe, target, 0, 2);
            ring.submit();
            ring.cancel(2);
            ring.close();
            ring.close();
            pipe.close();
        }
    }

    @Test
    void closedRingRefusesEveryUse() {
        IoUring ring = IoUring.open(4, 8);
        ring.nop(1);
        ring.close();
        assertThatThrownBy(() -> ring.nop(1))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("the ring is closed");
        assertThatThrownBy(ring::submit).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> ring.poll(results::put)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> ring.await(1, LONG, results::put)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> ring.cancel(1)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> ring.registerFiles(List.of())).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void completionMaySubmitButNotClose() {
        try (IoUring ring = IoUring.open(4, 8)) {
            ring.nop(10);
            Completions follow = (data, result) -> {
                assertThatThrownBy(ring::close)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("completion");
                results.put(data, result);
                if (data == 10) {
                    assertThat(ring.nop(11)).isTrue();
                }
            };
            int first = ring.await(1, LONG, follow);
            assertThat(first + ring.await(2 - first, LONG, follow)).isEqualTo(2);
            assertThat(results).containsExactly(Map.entry(10L, 0), Map.entry(11L, 0));
        }
    }

    @Test
    void exceptionOfACompletionLosesNoOther() {
        try (IoUring ring = IoUring.open(4, 8)) {
            ring.nop(1);
            ring.nop(2);
            assertThatThrownBy(() -> ring.await(2, LONG, (data, _) -> {
                        throw new IllegalArgumentException("data " + data);
                    }))
                    .hasMessage("data 1");
            assertThat(ring.await(1, LONG, results::put)).isEqualTo(1);
            assertThat(results).containsOnlyKeys(2L);
        }
    }

    @Test
    void secondThreadIsRefused() throws Exception {
        try (IoUring ring = IoUring.open(4, 8)) {
            CountDownLatch inside = new CountDownLatch(1);
            CountDownLatch tried = new CountDownLatch(1);
            Thread user = Thread.ofPlatform().start(() -> {
                ring.nop(1);
                ring.await(1, LONG, (_, _) -> {
                    inside.countDown();
                    awaitLatch(tried);
                });
            });
            assertThat(inside.await(60, TimeUnit.SECONDS)).isTrue();
            assertThatThrownBy(() -> ring.nop(2))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("another thread");
            assertThatThrownBy(ring::close).isInstanceOf(IllegalStateException.class);
            tried.countDown();
            user.join();
            assertThat(ring.nop(2)).as("one after the other").isTrue();
        }
    }

    @Test
    void registeredMemoryAndFilesAreUsed() throws IOException {
        try (NativeFile file = file();
                MappedMemory slab = MappedMemory.anonymous(1 << 20);
                IoUring ring = IoUring.open(8, 8);
                Arena arena = Arena.ofConfined()) {
            MemorySegment first = slab.segment().asSlice(0, 1 << 19);
            MemorySegment second = slab.segment().asSlice(1 << 19);
            ring.registerBuffers(List.of(first, second));
            ring.registerFiles(List.of(file));
            second.fill((byte) 9);
            assertThat(one(ring, ring.write(file, second.asSlice(100, 5000), 0, 1), 1))
                    .isEqualTo(5000);
            assertThat(one(ring, ring.read(file, first.asSlice(4096, 5000), 0, 2), 2))
                    .isEqualTo(5000);
            assertThat(first.asSlice(4096, 5000).mismatch(second.asSlice(0, 5000)))
                    .isEqualTo(-1);
            MemorySegment across = slab.segment().asSlice((1 << 19) - 10, 20);
            assertThat(one(ring, ring.read(file, across, 0, 3), 3))
                    .as("across two buffers")
                    .isEqualTo(20);
            assertThat(one(ring, ring.read(file, arena.allocate(7), 0, 4), 4))
                    .as("other memory")
                    .isEqualTo(7);
            assertThatThrownBy(file::close).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> ring.registerFiles(List.of(file))).hasMessageContaining("already");
            assertThatThrownBy(() -> ring.registerBuffers(List.of(first))).hasMessageContaining("already");
            ring.nop(5);
            assertThatThrownBy(ring::unregisterFiles).hasMessageContaining("under way");
            ring.await(1, LONG, results::put);
            ring.unregisterFiles();
            ring.unregisterBuffers();
            assertThat(one(ring, ring.read(file, first.asSlice(0, 5000), 0, 6), 6))
                    .isEqualTo(5000);
            ring.registerFiles(List.of(file));
            ring.registerBuffers(List.of(slab.segment()));
        }
    }

    @Test
    void memoryMappedWhereRegisteredMemoryWasIsNotTakenForIt() throws IOException {
        try (NativeFile file = file();
                IoUring ring = IoUring.open(4, 4);
                Arena arena = Arena.ofConfined()) {
            file.write(NativeFileTest.text(arena, "new!"), 0);
            MappedMemory old = MappedMemory.anonymous(1 << 20);
            ring.registerBuffers(List.of(old.segment()));
            MemorySegment reused = MemorySegment.ofAddress(old.segment().address());
            old.close();
            int flags = PosixApi.MAP_PRIVATE() | PosixApi.MAP_ANONYMOUS();
            MemorySegment again = PosixNative.mmap(reused, 1 << 20, MappedMemory.READ_WRITE, flags, -1, 0)
                    .reinterpret(1 << 20);
            assertThat(again.address()).as("the same address").isEqualTo(reused.address());
            assertThat(one(ring, ring.read(file, again, 0, 1), 1)).isEqualTo(4);
            assertThat(NativeFileTest.string(again.asSlice(0, 4))).isEqualTo("new!");
            PosixNative.munmap(again, 1 << 20);
        }
    }

    @Test
    void badInputIsRefusedBeforeTheKernelSeesIt() throws IOException {
        Arena closed = Arena.ofConfined();
        MemorySegment gone = closed.allocate(8);
        closed.close();
        try (NativeFile file = file();
                IoUring ring = IoUring.open(4, 8);
                Arena arena = Arena.ofConfined()) {
            MemorySegment data = arena.allocate(8);
            assertThatThrownBy(() -> ring.read(file, data, -1, 1)).hasMessageContaining("-1");
            assertThatThrownBy(() -> ring.read(file, MemorySegment.ofArray(new byte[1]), 0, 1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("heap");
            assertThatThrownBy(() -> ring.read(file, data.asReadOnly(), 0, 1)).hasMessageContaining("read-only");
            assertThatThrownBy(() -> ring.write(file, gone, 0, 1)).isInstanceOf(IllegalStateException.class);
            MemorySegment huge = MemorySegment.ofAddress(4096).reinterpret(1L << 31);
            assertThatThrownBy(() -> ring.write(file, huge, 0, 1)).hasMessageContaining("2147483648");
            assertThatThrownBy(() -> ring.registerBuffers(List.of(huge))).hasMessageContaining("2147483648");
            assertThatThrownBy(() -> ring.punchHole(file, 0, 0, 1)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> ring.await(-1, LONG, results::put)).hasMessageContaining("-1");
            assertThatThrownBy(() -> ring.await(1, Duration.ofNanos(-1), results::put))
                    .isInstanceOf(IllegalArgumentException.class);
            IoVectors many = IoVectors.ofCapacity(2000);
            for (int i = 0; i < 2000; i++) {
                many.add(data);
            }
            assertThatThrownBy(() -> ring.read(file, many, 0, 1)).hasMessageContaining("2000");
            NativeFile shut = file();
            shut.close();
            assertThatThrownBy(() -> ring.read(shut, data, 0, 1)).hasMessageContaining("is closed");
            assertThatThrownBy(() -> ring.registerFiles(List.of(file, shut))).hasMessageContaining("is closed");
            assertThat(ring.inFlight()).isZero();
        }
        for (int bad : new int[] {0, -1, 40_000}) {
            assertThatThrownBy(() -> IoUring.open(bad, 1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(String.valueOf(bad));
        }
        assertThatThrownBy(() -> IoUring.open(1, 0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void refusalsAreExplained() {
        assertThat(RingProbe.absent(38, "0").toString()).contains("ENOSYS", "blocking calls");
        assertThat(RingProbe.absent(1, "2").toString()).contains("EPERM", "kernel.io_uring_disabled is 2", "seccomp");
        assertThat(RingProbe.absent(12, "0")).isInstanceOf(Availability.Absent.class);
    }

    private int one(IoUring ring, boolean prepared, long data) {
        assertThat(prepared).isTrue();
        assertThat(ring.await(1, LONG, results::put)).isEqualTo(1);
        return results.get(data);
    }

    private NativeFile file() throws IOException {
        return NativeFile.open(Files.createTempFile(folder, "file", ""), Option.READ, Option.WRITE);
    }

    private NativeFile pipe() throws Exception {
        Path path = folder.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", path.toString()).start().waitFor())
                .isZero();
        return NativeFile.open(path, Option.READ, Option.WRITE);
    }

    private static void feed(NativeFile pipe, String text) {
        try {
            Files.writeString(Path.of(pipe.path()), text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
