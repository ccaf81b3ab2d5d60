package io.kvtier.bindings.cuda;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.emulator.DeviceEmulator;
import io.kvtier.bindings.internal.Backoff;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What copies take and refuse; {@link CopiesModelTest} compares what they do. */
@Tag("emulator")
@ExtendWith(DeviceEmulator.class)
class CopiesTest {
    private static final Device GPU = new Device(0);
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final int SIZE = 1024;

    private Stream stream;
    private DeviceMemory device;
    private PinnedMemory pinned;

    @BeforeEach
    void open() {
        stream = Stream.create(GPU);
        device = DeviceMemory.allocate(GPU, SIZE);
        pinned = PinnedMemory.allocate(GPU, SIZE);
    }

    @AfterEach
    void nothingIsLive() {
        pinned.close();
        device.close();
        stream.close();
        assertThat(NativeHandles.live()).isEmpty();
    }

    @Test
    void rangesMustLieWithinTheirMemory() {
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> Copies.copy(stream, device, 1000, pinned, 0, 25))
                .withMessage("25 bytes at offset 1000 do not lie within the 1024 bytes of the " + device);
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> Copies.copy(stream, device, 0, pinned, -1, 25))
                .withMessageContaining("25 bytes at offset -1");
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> Copies.copy(stream, device, 0, pinned, 0, -1))
                .withMessageContaining("-1 bytes at offset 0");
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> Copies.copy(stream, device, Long.MAX_VALUE, pinned, 0, 2));
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> Copies.fill(stream, device, 1, SIZE, (byte) 0));
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> new CopyBatch(1).add(device, 0, pinned, 1, SIZE));
        assertThat(DeviceEmulator.calls("cudaMemcpyAsync")).isZero();
    }

    @Test
    void unpinnedRangesMustLieWithinTheirSegment() {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(100);
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> Copies.copy(stream, device, 0, memory, 90, 11))
                    .withMessageContaining("11 bytes at offset 90 do not lie within the 100 bytes");
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> Copies.copy(stream, memory, -4, device, 0, 8));
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> Copies.copy(stream, memory, 0, device, SIZE, 8));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Copies.copy(stream, memory.asReadOnly(), 0, device, 0, 8))
                    .withMessageContaining("read-only");
            Copies.copy(stream, device, 0, memory.asReadOnly(), 0, 8);
        }
    }

    @Test
    void hostMemoryMustBeNativeOpenAndOfThisThread() throws InterruptedException {
        MemorySegment heap = MemorySegment.ofArray(new byte[16]);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Copies.copy(stream, device, 0, heap, 0, 16))
                .withMessageContaining("memory on the heap");
        assertThatIllegalArgumentException().isThrownBy(() -> Copies.copy(stream, heap, 0, device, 0, 16));
        Arena closed = Arena.ofShared();
        MemorySegment gone = closed.allocate(16);
        closed.close();
        assertThatIllegalStateException()
                .isThrownBy(() -> Copies.copy(stream, device, 0, gone, 0, 16))
                .withMessageContaining("is closed or belongs to another thread");
        try (Arena confined = Arena.ofConfined()) {
            MemorySegment mine = confined.allocate(16);
            Throwable[] failure = new Throwable[1];
            Thread other = Thread.ofPlatform()
                    .uncaughtExceptionHandler((_, e) -> failure[0] = e)
                    .start(() -> Copies.copy(stream, mine, 0, device, 0, 16));
            other.join(60_000);
            assertThat(failure[0]).isInstanceOf(IllegalStateException.class).hasMessageContaining("another thread");
        }
        assertThat(DeviceEmulator.calls("cudaMemcpyAsync")).isZero();
    }

    /** A copy into unpinned memory lasts until the stream got there; until then the memory is in a native call. */
    @Test
    void unpinnedMemoryCannotBeClosedDuringTheCall() throws InterruptedException {
        Arena arena = Arena.ofShared();
        MemorySegment memory = arena.allocate(16);
        Copies.fill(stream, device, 0, 16, (byte) 3);
        assertThat(stream.await(MINUTE)).isTrue();
        DeviceEmulator.stall("cudaMemcpyAsync", 1);
        Thread copier = Thread.ofPlatform().start(() -> Copies.copy(stream, memory, 0, device, 0, 16));
        assertThat(Backoff.until(() -> DeviceEmulator.stalled() != 0, Backoff.deadline(MINUTE)))
                .isTrue();
        assertThatIllegalStateException().isThrownBy(arena::close);
        DeviceEmulator.release();
        copier.join(60_000);
        assertThat(memory.toArray(JAVA_BYTE)).containsOnly(3);
        arena.close();
    }

    @Test
    void rangesOfTheSameMemoryMustNotOverlap() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Copies.copy(stream, device, 0, device, 9, 10))
                .withMessage("ranges of a copy must not overlap: 10 bytes from 9 to 0 of the same " + device);
        assertThatIllegalArgumentException().isThrownBy(() -> Copies.copy(stream, device, 9, device, 0, 10));
        assertThatIllegalArgumentException().isThrownBy(() -> Copies.copy(stream, device, 5, device, 5, 1));
        Copies.copy(stream, device, 0, device, 10, 10);
        Copies.copy(stream, device, 10, device, 0, 10);
        Copies.copy(stream, device, 5, device, 5, 0);
        assertThatIllegalArgumentException().isThrownBy(() -> new CopyBatch(1).add(device, 0, device, 1, 2));
    }

    @Test
    void nothingIsCopiedWithoutACall() {
        Copies.copy(stream, device, SIZE, pinned, SIZE, 0);
        Copies.copy2D(stream, new Pitched(device, 0, 8), new Pitched(pinned, 0, 8), 0, 5);
        Copies.copy2D(stream, new Pitched(device, 0, 8), new Pitched(pinned, 0, 8), 8, 0);
        Copies.copy3D(stream, new Pitched(device, 0, 8, 2), new Pitched(pinned, 0, 8, 2), 8, 2, 0);
        Copies.fill(stream, device, 0, 0, (byte) 1);
        CopyBatch batch = new CopyBatch(1);
        batch.add(device, 0, pinned, 0, 0);
        assertThat(batch.size()).isZero();
        batch.submit(stream);
        for (String function : new String[] {
            "cudaMemcpyAsync", "cudaMemcpy2DAsync", "cudaMemcpy3DAsync", "cudaMemsetAsync", "cudaMemcpyBatchAsync"
        }) {
            assertThat(DeviceEmulator.calls(function)).as(function).isZero();
        }
    }

    @Test
    void boxesMustFit() {
        Pitched rows = new Pitched(device, 0, 100);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Copies.copy2D(stream, rows, new Pitched(pinned, 0, 200), 101, 1))
                .withMessageContaining("a box of 101 bytes x 1 rows x 1 slices does not fit into rows of 100 bytes");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Copies.copy2D(stream, rows, new Pitched(pinned, 0, 200), 10, -1))
                .withMessageContaining("10 bytes x -1 rows");
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> Copies.copy2D(stream, rows, new Pitched(pinned, 0, 90), 90, 11))
                .withMessageContaining("1090 bytes at offset 0");
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> Copies.copy2D(stream, rows, new Pitched(pinned, 0, 90), 90, Long.MAX_VALUE))
                .withMessageContaining(Long.MAX_VALUE + " bytes");
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        Copies.copy3D(stream, new Pitched(device, 0, 10, 3), new Pitched(pinned, 0, 10, 4), 10, 4, 2))
                .withMessageContaining("slices of 3 rows");
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> Copies.copy3D(
                        stream, new Pitched(device, 4, 10, 10), new Pitched(pinned, 0, 10, 10), 10, 10, 11));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Pitched(device, 0, 1L << 31))
                .withMessageContaining("pitch 2147483648");
        assertThatIllegalArgumentException().isThrownBy(() -> new Pitched(device, -1, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> new Pitched(device, 0, 1, -1));
    }

    @Test
    void boxesOfTheSameMemoryMustNotOverlap() {
        Pitched left = new Pitched(device, 0, 100);
        Copies.copy2D(stream, left, new Pitched(device, 50, 100), 50, 10);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Copies.copy2D(stream, left, new Pitched(device, 50, 100), 51, 9))
                .withMessageContaining("boxes of a copy must not overlap: 51 bytes x 9 rows");
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        Copies.copy3D(stream, new Pitched(device, 0, 10, 5), new Pitched(device, 25, 10, 5), 6, 5, 2));
    }

    /** Against bytes that are marked one by one. */
    @Test
    void overlapOfBoxesIsExact() {
        long seed = Long.getLong("kvtier.seed", System.nanoTime());
        System.out.println("CopiesTest: -Dkvtier.seed=" + seed);
        Random random = new Random(seed);
        int overlapping = 0;
        int rounds = 20_000;
        for (int round = 0; round < rounds; round++) {
            int width = 1 + random.nextInt(6);
            int height = 1 + random.nextInt(4);
            int depth = 1 + random.nextInt(3);
            Pitched one = place(random, width, height);
            Pitched other = place(random, width, height);
            boolean expected = shareAByte(one, other, width, height, depth);
            assertThat(Ranges.boxesOverlap(one, other, width, height, depth))
                    .as("%s and %s, %d x %d x %d", one, other, width, height, depth)
                    .isEqualTo(expected);
            overlapping += expected ? 1 : 0;
        }
        assertThat(overlapping).isBetween(rounds / 10, rounds - rounds / 10);
    }

    private Pitched place(Random random, int width, int height) {
        return new Pitched(device, random.nextInt(90), width + random.nextInt(8), height + random.nextInt(3));
    }

    private static boolean shareAByte(Pitched one, Pitched other, int width, int height, int depth) {
        boolean[] marked = new boolean[SIZE];
        boolean[] shared = new boolean[1];
        eachByte(one, width, height, depth, at -> marked[at] = true);
        eachByte(other, width, height, depth, at -> shared[0] |= marked[at]);
        return shared[0];
    }

    private interface Visit {
        void at(int offset);
    }

    private static void eachByte(Pitched box, int width, int height, int depth, Visit visit) {
        for (int slice = 0; slice < depth; slice++) {
            for (int row = 0; row < height; row++) {
                for (int column = 0; column < width; column++) {
                    visit.at((int) (box.offset() + (slice * box.rows() + row) * box.pitch() + column));
                }
            }
        }
    }

    @Test
    void readOnlyMemoryIsNoTarget() {
        try (Arena arena = Arena.ofShared()) {
            PinnedMemory readOnly = PinnedMemory.register(
                    new Device(1), arena.allocate(4096, 4096).asReadOnly(), PinnedOption.READ_ONLY);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Copies.copy(stream, readOnly, 0, device, 0, 8))
                    .withMessageContaining("is read-only");
            assertThatIllegalArgumentException().isThrownBy(() -> new CopyBatch(1).add(readOnly, 0, device, 0, 8));
            assertThatIllegalArgumentException()
                    .isThrownBy(
                            () -> Copies.copy2D(stream, new Pitched(readOnly, 0, 8), new Pitched(device, 0, 8), 8, 1));
            Copies.copy(stream, device, 0, readOnly, 0, 8);
            readOnly.close();
        }
    }

    @Test
    void refusalOfTheRuntimeNamesWhatWasCopied() {
        DeviceEmulator.fail("cudaMemcpyAsync", 1, 1);
        assertThatExceptionOfType(CudaException.class)
                .isThrownBy(() -> Copies.copy(stream, device, 8, pinned, 16, 100))
                .withMessage(
                        "cudaMemcpyAsync failed with cudaErrorInvalidValue (1): invalid argument; 100 bytes from 16"
                                + " of " + pinned + " to 8 of " + device);
        DeviceEmulator.fail("cudaMemcpy2DAsync", 1, 1);
        assertThatExceptionOfType(CudaException.class)
                .isThrownBy(() -> Copies.copy2D(stream, new Pitched(device, 1, 9), new Pitched(pinned, 2, 8), 7, 6))
                .withMessageContaining("7 bytes x 6 rows x 1 slices from Pitched[memory=" + pinned + ", offset=2");
        DeviceEmulator.fail("cudaMemsetAsync", 1, 1);
        assertThatExceptionOfType(CudaException.class)
                .isThrownBy(() -> Copies.fill(stream, device, 3, 5, (byte) 1))
                .withMessageContaining("5 bytes at 3 of " + device);
    }
}
