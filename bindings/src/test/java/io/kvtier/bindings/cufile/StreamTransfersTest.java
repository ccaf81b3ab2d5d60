package io.kvtier.bindings.cufile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.cuda.Copies;
import io.kvtier.bindings.cuda.CudaException;
import io.kvtier.bindings.cuda.DeviceMemory;
import io.kvtier.bindings.cuda.Stream;
import io.kvtier.bindings.cufile.Transfers.State;
import io.kvtier.bindings.emulator.DeviceEmulator;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class StreamTransfersTest extends OnDevice {
    private static final int SIZE = 16 * PAGE;
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration SHORT = Duration.ofMillis(100);
    private static final int ENOSPC = 28;

    private DeviceMemory memory;
    private RegisteredBuffer buffer;
    private RegisteredFile file;
    private Stream stream;

    @BeforeEach
    void open() {
        stream = Stream.create(device);
        memory = DeviceMemory.allocate(device, SIZE);
        buffer = RegisteredBuffer.register(driver, memory);
        file = file("f");
    }

    @AfterEach
    void close() {
        file.close();
        buffer.close();
        memory.close();
        stream.close();
    }

    @Test
    void transfersKeepTheOrderOfTheStream() throws IOException {
        try (StreamTransfers transfers = StreamTransfers.create(driver, stream, 4)) {
            assertThat(transfers.stream()).isSameAs(stream);
            DeviceEmulator.holdStreams(true);
            Copies.fill(stream, memory, 0, SIZE, (byte) 1);
            transfers.write(file, buffer, 0, SIZE, 0);
            transfers.submit();
            Copies.fill(stream, memory, 0, SIZE, (byte) 2);
            transfers.write(file, buffer, 0, PAGE, PAGE);
            transfers.read(file, buffer, 2 * PAGE, PAGE, 0);
            transfers.submit();
            assertThat(transfers.isDone()).isFalse();
            assertThat(transfers.state(0)).isEqualTo(State.IN_FLIGHT);
            DeviceEmulator.holdStreams(false);
            assertThat(transfers.await(LONG)).isTrue();
            transfers.requireAll();
            assertThat(transfers.moved(0)).isEqualTo(SIZE);
        }
        byte[] expected = new byte[SIZE];
        Arrays.fill(expected, (byte) 1);
        Arrays.fill(expected, PAGE, 2 * PAGE, (byte) 2);
        assertThat(Files.readAllBytes(folder.resolve("f"))).isEqualTo(expected);
        assertThat(bytesOf(memory, 2 * PAGE, PAGE)).containsOnly(1);
        assertThat(bytesOf(memory, 3 * PAGE, PAGE)).containsOnly(2);
    }

    @Test
    void whatIsInFlightStaysOpen() {
        StreamTransfers transfers = StreamTransfers.create(driver, stream, 4);
        DeviceEmulator.holdStreams(true);
        transfers.write(file, buffer, 0, PAGE, 0);
        transfers.submit();
        long start = System.nanoTime();
        assertThat(transfers.await(SHORT)).isFalse();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(SHORT, LONG);
        assertThatThrownBy(file::close).hasMessageContaining("1 holders");
        assertThatThrownBy(buffer::close).hasMessageContaining("1 holders");
        assertThatThrownBy(stream::close).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(driver::close).hasMessageContaining("3 holders");
        assertThatThrownBy(transfers::clear).hasMessageContaining("1 operations in flight");
        assertThatThrownBy(transfers::close)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("still has operations in flight after 10 seconds; it stays open");
        assertThat(DeviceEmulator.calls("cuFileStreamDeregister")).isZero();
        assertThat(DeviceEmulator.calls("cudaFreeHost")).as("its parameters").isZero();
        DeviceEmulator.holdStreams(false);
        transfers.close();
        transfers.close();
        assertThat(DeviceEmulator.calls("cuFileStreamDeregister")).isEqualTo(1);
        assertThatThrownBy(transfers::submit).hasMessageContaining("is closed");
    }

    @Test
    void laterWorkOfTheStreamIsNotWaitedFor() {
        try (StreamTransfers transfers = StreamTransfers.create(driver, stream, 4);
                DeviceMemory other = DeviceMemory.allocate(device, SIZE)) {
            transfers.write(file, buffer, 0, PAGE, 0);
            transfers.submit();
            DeviceEmulator.stall("cudaMemcpyAsync@stream", 1);
            Copies.copy(stream, other, 0, memory, 0, PAGE);
            awaitStalled();
            assertThat(transfers.await(LONG)).isTrue();
            transfers.requireAll();
            DeviceEmulator.release();
        }
    }

    @Test
    void stalledTransfersAreWaitedForWithinBounds() {
        try (StreamTransfers transfers = StreamTransfers.create(driver, stream, 4)) {
            DeviceEmulator.stall("cuFileReadAsync@stream", 1);
            transfers.read(file, buffer, 0, PAGE, 0);
            transfers.submit();
            awaitStalled();
            assertThat(transfers.await(SHORT)).isFalse();
            DeviceEmulator.release();
            assertThat(transfers.await(LONG)).isTrue();
            assertThat(transfers.state(0)).isEqualTo(State.DONE);
            assertThat(transfers.moved(0)).as("the file is empty").isZero();
        }
    }

    @Test
    void eachFailureIsNamed() {
        try (StreamTransfers transfers = StreamTransfers.create(driver, stream, 4)) {
            DeviceEmulator.fail("cuFileWriteAsync@stream", 2, ENOSPC);
            DeviceEmulator.shorten("cuFileWriteAsync@stream", 3, 100);
            DeviceEmulator.fail("cuFileReadAsync@stream", 1, -5030);
            for (int i = 0; i < 3; i++) {
                transfers.write(file, buffer, i * PAGE, PAGE, i * PAGE);
            }
            transfers.read(file, buffer, 0, PAGE, 0);
            transfers.submit();
            assertThat(transfers.await(LONG)).isTrue();
            assertThat(transfers.state(0)).isEqualTo(State.DONE);
            assertThatThrownBy(transfers::requireAll)
                    .isInstanceOfSatisfying(CuFileException.class, e -> {
                        assertThat(e.codeName()).isEqualTo("ENOSPC");
                        assertThat(e.getSuppressed()[0]).hasMessageContainingAll("SHORT (100)", "operation 2, write");
                        assertThat(e.getSuppressed()[1])
                                .hasMessageContainingAll(
                                        "cuFileReadAsync failed with CU_FILE_INTERNAL_ERROR", "operation 3");
                    })
                    .hasMessageContainingAll(
                            "cuFileWriteAsync failed with", "operation 1, write of 4096 bytes at 4096");
        }
    }

    @Test
    void aRefusedOperationStopsNeitherTheOnesBeforeNorThoseBehind() {
        try (StreamTransfers transfers = StreamTransfers.create(driver, stream, 4)) {
            for (int i = 0; i < 4; i++) {
                transfers.write(file, buffer, i * PAGE, PAGE, i * PAGE);
            }
            DeviceEmulator.fail("cuFileWriteAsync", 2, 5038);
            assertThatThrownBy(transfers::submit)
                    .isInstanceOf(CuFileException.class)
                    .hasMessageContainingAll("CU_FILE_ASYNC_NOT_SUPPORTED (5038)", "operation 1, write of 4096 bytes");
            assertThat(transfers.state(1)).isEqualTo(State.FAILED);
            assertThat(transfers.state(2)).isEqualTo(State.PREPARED);
            assertThatThrownBy(transfers::requireAll).hasMessageContaining("2 were not submitted");
            transfers.submit();
            assertThat(transfers.await(LONG)).isTrue();
            assertThat(transfers.state(0)).isEqualTo(State.DONE);
            assertThat(transfers.state(3)).isEqualTo(State.DONE);
            assertThatThrownBy(transfers::requireAll).hasMessageContaining("operation 1");
            transfers.clear();
            transfers.read(file, buffer, 0, PAGE, 3 * PAGE);
            transfers.submit();
            assertThat(transfers.await(LONG)).isTrue();
            transfers.requireAll();
        }
    }

    @Test
    void anEventThatCannotBeRecordedIsRecordedLater() {
        try (StreamTransfers transfers = StreamTransfers.create(driver, stream, 4)) {
            transfers.write(file, buffer, 0, PAGE, 0);
            DeviceEmulator.fail("cudaEventRecord", 1, 2);
            DeviceEmulator.fail("cudaEventRecord", 2, 2);
            transfers.submit();
            assertThatThrownBy(transfers::isDone)
                    .isInstanceOf(CudaException.class)
                    .hasMessageContaining("cudaEventRecord");
            assertThat(transfers.state(0)).isEqualTo(State.IN_FLIGHT);
            assertThat(transfers.await(LONG)).isTrue();
            transfers.requireAll();
        }
    }

    @Test
    void allWorkEndsWithTheContext() {
        try (StreamTransfers transfers = StreamTransfers.create(driver, stream, 4);
                DeviceMemory other = DeviceMemory.allocate(device, SIZE)) {
            DeviceEmulator.holdStreams(true);
            DeviceEmulator.fail("cudaMemcpyAsync@stream", 1, 700);
            Copies.copy(stream, other, 0, memory, 0, PAGE);
            transfers.write(file, buffer, 0, PAGE, 0);
            transfers.submit();
            DeviceEmulator.holdStreams(false);
            assertThat(transfers.await(LONG)).isTrue();
            assertThat(transfers.state(0)).isEqualTo(State.FAILED);
            assertThatThrownBy(transfers::requireAll)
                    .isInstanceOfSatisfying(CuFileException.class, e -> {
                        assertThat(e.code()).isEqualTo(5011);
                        assertThat(e.cudaCode()).isEqualTo(700);
                    })
                    .hasMessageContaining("operation 0");
            DeviceEmulator.reset();
        }
    }

    @Test
    void whatNobodyRemembersIsKeptWhileItIsInFlight() {
        DeviceEmulator.holdStreams(true);
        WeakReference<StreamTransfers> reference = forgotten();
        for (int i = 0; i < 5; i++) {
            System.gc();
        }
        StreamTransfers transfers = reference.get();
        assertThat(transfers).isNotNull();
        DeviceEmulator.holdStreams(false);
        transfers.close();
    }

    private WeakReference<StreamTransfers> forgotten() {
        StreamTransfers transfers = StreamTransfers.create(driver, stream, 4);
        transfers.write(file, buffer, 0, PAGE, 0);
        transfers.submit();
        return new WeakReference<>(transfers);
    }

    @Test
    void alignedTransfersRefuseOthers() {
        try (StreamTransfers transfers = StreamTransfers.createAligned(driver, stream, 4)) {
            for (long[] place : new long[][] {{1, PAGE, 0}, {0, PAGE + 1, 0}, {0, PAGE, 512}, {2048, 2048, 2048}}) {
                assertThatThrownBy(() -> transfers.read(file, buffer, place[0], place[1], place[2]))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContainingAll("multiples of 4096 only", place[1] + " bytes at position " + place[2]);
            }
            transfers.write(file, buffer, PAGE, 2 * PAGE, PAGE);
            transfers.submit();
            assertThat(transfers.await(LONG)).isTrue();
            transfers.requireAll();
            assertThat(notes()).isEmpty();
        }
        try (StreamTransfers transfers = StreamTransfers.create(driver, stream, 4)) {
            transfers.write(file, buffer, 1, 10, 3);
            transfers.submit();
            assertThat(transfers.await(LONG)).isTrue();
            transfers.requireAll();
            assertThat(notes()).singleElement().asString().contains("not aligned to 4096");
        }
    }

    @Test
    void aStreamHasOneSetOfTransfers() {
        try (StreamTransfers _ = StreamTransfers.create(driver, stream, 1);
                Stream second = Stream.create(device);
                StreamTransfers _ = StreamTransfers.create(driver, second, 1)) {
            assertThatThrownBy(() -> StreamTransfers.createAligned(driver, stream, 1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("transfers for this stream of device 0 already");
        }
        StreamTransfers.create(driver, stream, 1).close();
    }

    @Test
    void whatCannotBeMadeLeavesNothingBehind() {
        for (int capacity : new int[] {0, -1, 1 << 20}) {
            assertThatThrownBy(() -> StreamTransfers.create(driver, stream, capacity))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("not " + capacity);
        }
        for (String function : new String[] {"cudaHostAlloc", "cudaEventCreateWithFlags"}) {
            DeviceEmulator.fail(function, 1, 2);
            assertThatThrownBy(() -> StreamTransfers.create(driver, stream, 4)).isInstanceOf(CudaException.class);
        }
        DeviceEmulator.fail("cuFileStreamRegister", 1, 5022);
        assertThatThrownBy(() -> StreamTransfers.create(driver, stream, 4)).isInstanceOf(CuFileException.class);
        assertThat(NativeHandles.live())
                .doesNotContainKeys("cufile.stream", "cuda.pinnedMemory", "cuda.event")
                .containsKey("cuda.stream");
        Stream closed = Stream.create(device);
        closed.close();
        assertThatThrownBy(() -> StreamTransfers.create(driver, closed, 4))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("is closed");
    }

    @Test
    void failuresOfTheCloseAreToldAndEverythingIsLetGo() {
        StreamTransfers transfers = StreamTransfers.create(driver, stream, 4);
        DeviceEmulator.fail("cuFileStreamDeregister", 1, 5030);
        DeviceEmulator.fail("cudaFreeHost", 1, 2);
        assertThatThrownBy(transfers::close)
                .isInstanceOf(CuFileException.class)
                .satisfies(e -> assertThat(e.getSuppressed()).hasExactlyElementsOfTypes(CudaException.class));
        transfers.close();
    }

    /** Random writes and reads in the order of the stream do what the same on arrays does. */
    @Test
    void transfersDoWhatTheSameOnArraysDoes() throws IOException {
        long seed = Long.getLong("kvtier.seed", System.nanoTime());
        System.out.println("StreamTransfersTest: -Dkvtier.seed=" + seed);
        Random random = new Random(seed);
        byte[] onDevice = random(seed, SIZE);
        byte[] inFile = random(seed + 1, 2 * SIZE);
        put(memory, onDevice);
        Files.write(folder.resolve("f"), inFile);
        try (StreamTransfers transfers = StreamTransfers.create(driver, stream, 16)) {
            for (int round = 0; round < 200; round++) {
                for (int i = 1 + random.nextInt(16); i > 0; i--) {
                    int offset = random.nextInt(SIZE);
                    int bytes = 1 + random.nextInt(SIZE - offset);
                    int position = random.nextInt(2 * SIZE - bytes + 1);
                    boolean write = random.nextBoolean();
                    int moved = bytes;
                    if (bytes > 1 && random.nextInt(4) == 0) {
                        moved = random.nextInt(bytes);
                        cutShort(transfers, write, moved);
                    }
                    if (write) {
                        transfers.write(file, buffer, offset, bytes, position);
                        System.arraycopy(onDevice, offset, inFile, position, moved);
                    } else {
                        transfers.read(file, buffer, offset, bytes, position);
                        System.arraycopy(inFile, position, onDevice, offset, moved);
                    }
                    transfers.submit();
                }
                assertThat(transfers.await(LONG)).isTrue();
                transfers.clear();
                assertThat(bytesOf(memory, 0, SIZE)).as("round %d", round).isEqualTo(onDevice);
            }
        }
        assertThat(Files.readAllBytes(folder.resolve("f"))).isEqualTo(inFile);
    }

    /** Plans count uses from now on, so all that was submitted must have been used. */
    private static void cutShort(StreamTransfers transfers, boolean write, int bytes) {
        assertThat(transfers.await(LONG)).isTrue();
        DeviceEmulator.shorten(write ? "cuFileWriteAsync@stream" : "cuFileReadAsync@stream", 1, bytes);
    }
}
