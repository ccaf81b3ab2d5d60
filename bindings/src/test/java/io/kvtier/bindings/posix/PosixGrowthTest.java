package io.kvtier.bindings.posix;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvtier.bindings.Allocations;
import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.posix.NativeFile.Option;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** What is used over and over takes no more memory with time, and hot paths allocate nothing. */
@EnabledOnOs(OS.LINUX)
class PosixGrowthTest {
    private static final long MIB = 1 << 20;
    private static final Duration LONG = Duration.ofSeconds(60);

    @TempDir
    Path folder;

    @AfterEach
    void nothingIsLeftOpen() {
        assertThat(NativeHandles.live()).isEmpty();
    }

    @Test
    void mappingAndUnmappingDoesNotGrow() throws IOException {
        assertBounded(1_000, 10_000, () -> {
            try (MappedMemory memory = MappedMemory.anonymous(64 << 10)) {
                memory.segment().fill((byte) 1);
            }
        });
    }

    @Test
    void ringsDoNotGrow() throws IOException {
        Assumptions.assumeTrue(
                IoUring.availability().isAvailable(), IoUring.availability().toString());
        assertBounded(20, 200, () -> {
            try (IoUring ring = IoUring.open(4096, 8192)) {
                ring.nop(1);
                assertThat(ring.await(1, LONG, (_, _) -> {})).isEqualTo(1);
            }
        });
    }

    @Test
    void filesDoNotGrow() throws IOException {
        Path path = folder.resolve("file");
        assertBounded(
                1_000,
                10_000,
                () -> NativeFile.open(path, Option.WRITE, Option.CREATE).close());
        assertThat(Path.of("/proc/self/fd").toFile().list()).hasSizeLessThan(500);
    }

    @Test
    void readsAndWritesAllocateNothing() {
        try (NativeFile file = NativeFile.open(folder.resolve("file"), Option.READ, Option.WRITE, Option.CREATE);
                Arena arena = Arena.ofConfined()) {
            MemorySegment page = arena.allocate(4096);
            IoVectors vectors =
                    IoVectors.ofCapacity(2).add(page.asSlice(0, 100)).add(page.asSlice(100, 3996));
            assertAllocatesNothing(() -> {
                file.write(page, 0);
                file.read(page, 0);
                file.write(vectors, 0);
                file.read(vectors, 0);
            });
        }
    }

    @Test
    void ringsAllocateNothingInUse() {
        Assumptions.assumeTrue(
                IoUring.availability().isAvailable(), IoUring.availability().toString());
        try (NativeFile file = NativeFile.open(folder.resolve("file"), Option.READ, Option.WRITE, Option.CREATE);
                IoUring ring = IoUring.open(16, 16);
                Arena arena = Arena.ofConfined()) {
            MemorySegment page = arena.allocate(4096);
            AtomicLong bytes = new AtomicLong();
            Completions completions = (_, result) -> bytes.addAndGet(result);
            file.write(page, 0);
            assertAllocatesNothing(() -> {
                ring.read(file, page, 0, 1);
                ring.read(file, page, 0, 2);
                ring.submit();
                ring.await(2, LONG, completions);
            });
            assertThat(bytes.get()).isPositive();
        }
    }

    private static void assertBounded(int warmUp, int cycles, Runnable cycle) throws IOException {
        for (int i = 0; i < warmUp; i++) {
            cycle.run();
        }
        long resident = MappedMemoryTest.status("VmRSS:");
        long mapped = MappedMemoryTest.status("VmSize:");
        for (int i = 0; i < cycles; i++) {
            cycle.run();
        }
        assertThat(MappedMemoryTest.status("VmRSS:") - resident).isLessThan(100 * MIB);
        assertThat(MappedMemoryTest.status("VmSize:") - mapped).isLessThan(400 * MIB);
    }

    /** Takes the best of many attempts: it is the JIT that takes objects away, and it needs time for that. */
    private static void assertAllocatesNothing(Runnable work) {
        long best = Long.MAX_VALUE;
        long deadline = System.nanoTime() + LONG.toNanos();
        while (best >= 2_000 && System.nanoTime() < deadline) {
            long before = Allocations.ofThisThread();
            for (int i = 0; i < 2_000; i++) {
                work.run();
            }
            best = Math.min(best, Allocations.ofThisThread() - before);
        }
        assertThat(best).as("bytes in 2000 rounds").isLessThan(2_000);
    }
}
