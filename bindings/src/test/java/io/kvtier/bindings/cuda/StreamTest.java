package io.kvtier.bindings.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.kvtier.bindings.Hold;
import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.emulator.DeviceEmulator;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@Tag("emulator")
@ExtendWith(DeviceEmulator.class)
class StreamTest {
    private static final Device GPU = new Device(0);
    private static final Duration MINUTE = Duration.ofMinutes(1);

    @AfterEach
    void nothingIsLive() {
        assertThat(NativeHandles.live()).isEmpty();
    }

    @Test
    void workRunsInOrder() {
        try (Stream stream = Stream.create(GPU);
                DeviceMemory one = DeviceMemory.allocate(GPU, 16);
                DeviceMemory other = DeviceMemory.allocate(GPU, 16)) {
            DeviceEmulator.holdStreams(true);
            Copies.fill(stream, one, 0, 16, (byte) 1);
            Copies.copy(stream, other, 0, one, 0, 16);
            Copies.fill(stream, one, 0, 16, (byte) 2);
            assertThat(stream.isDone()).isFalse();
            DeviceEmulator.holdStreams(false);
            stream.synchronize();
            assertThat(stream.isDone()).isTrue();
            assertThat(DeviceEmulator.peek(other.address(), 16)).containsOnly(1);
            assertThat(DeviceEmulator.peek(one.address(), 16)).containsOnly(2);
        }
    }

    @Test
    void awaitEndsWithTheTimeOrTheWork() {
        try (Stream stream = Stream.create(GPU);
                DeviceMemory memory = DeviceMemory.allocate(GPU, 16)) {
            assertThat(stream.await(Duration.ZERO)).isTrue();
            DeviceEmulator.holdStreams(true);
            Copies.fill(stream, memory, 0, 16, (byte) 1);
            long start = System.nanoTime();
            assertThat(stream.await(Duration.ofMillis(30))).isFalse();
            assertThat(System.nanoTime() - start).isBetween(30_000_000L, 5_000_000_000L);
            assertThat(stream.await(Duration.ofSeconds(-1))).isFalse();
            Thread.ofPlatform().start(() -> DeviceEmulator.holdStreams(false));
            assertThat(stream.await(Duration.ofSeconds(Long.MAX_VALUE))).isTrue();
        }
    }

    @Test
    void interruptedThreadStopsWaitingAndKeepsTheInterrupt() {
        try (Stream stream = Stream.create(GPU);
                DeviceMemory memory = DeviceMemory.allocate(GPU, 16)) {
            DeviceEmulator.holdStreams(true);
            Copies.fill(stream, memory, 0, 16, (byte) 1);
            Thread.currentThread().interrupt();
            assertThat(stream.await(MINUTE)).isFalse();
            assertThat(Thread.interrupted()).isTrue();
            DeviceEmulator.holdStreams(false);
        }
    }

    /** Otherwise nobody would close it any more, and its memory would stay for ever. */
    @Test
    void interruptedThreadClosesAllTheSame() throws InterruptedException {
        Stream stream = Stream.create(GPU);
        DeviceMemory memory = DeviceMemory.allocate(GPU, 16);
        DeviceEmulator.holdStreams(true);
        Copies.fill(stream, memory, 0, 16, (byte) 1);
        AtomicBoolean interruptKept = new AtomicBoolean();
        Thread closer = Thread.ofPlatform().start(() -> {
            Thread.currentThread().interrupt();
            memory.close();
            stream.close();
            interruptKept.set(Thread.currentThread().isInterrupted());
        });
        closer.join(100);
        assertThat(closer.isAlive()).isTrue();
        DeviceEmulator.holdStreams(false);
        closer.join(60_000);
        assertThat(stream.isClosed()).isTrue();
        assertThat(memory.isClosed()).isTrue();
        assertThat(interruptKept).isTrue();
    }

    @Test
    void streamWaitsForAnEventOfAnotherDevice() {
        Device second = new Device(1);
        try (Stream first = Stream.create(GPU);
                Stream other = Stream.create(second);
                DeviceMemory from = DeviceMemory.allocate(GPU, 16);
                DeviceMemory to = DeviceMemory.allocate(second, 16);
                Event filled = Event.create(GPU)) {
            DeviceEmulator.stall("cudaMemsetAsync@stream", 1);
            Copies.fill(first, from, 0, 16, (byte) 9);
            filled.record(first);
            other.waitFor(filled);
            Copies.copy(other, to, 0, from, 0, 16);
            assertThat(other.await(Duration.ofMillis(50))).isFalse();
            DeviceEmulator.release();
            assertThat(other.await(MINUTE)).isTrue();
            assertThat(DeviceEmulator.peek(to.address(), 16)).containsOnly(9);
        }
    }

    @Test
    void priorityIsOneOfTheDevice() {
        assertThat(GPU.streamPriorities()).isEqualTo(new StreamPriorities(0, -5));
        Stream.create(GPU, -5).close();
        assertThat(DeviceEmulator.calls("cudaStreamCreateWithPriority")).isEqualTo(1);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Stream.create(GPU, 1))
                .withMessage("a stream of device 0 may have a priority from 0 to -5, got 1");
        assertThatIllegalArgumentException().isThrownBy(() -> Stream.create(GPU, -6));
    }

    @Test
    void closedStreamIsRefused() {
        Stream stream = Stream.create(GPU);
        assertThat(stream.device()).isEqualTo(GPU);
        assertThat(stream.handle().address()).isNotZero();
        assertThat(stream.isClosed()).isFalse();
        stream.close();
        stream.close();
        assertThat(stream.isClosed()).isTrue();
        String message = "the stream of device 0 is closed";
        try (Event event = Event.create(GPU);
                DeviceMemory memory = DeviceMemory.allocate(GPU, 4)) {
            assertThatIllegalStateException().isThrownBy(stream::handle).withMessage(message);
            assertThatIllegalStateException().isThrownBy(stream::hold).withMessage(message);
            assertThatIllegalStateException().isThrownBy(stream::isDone).withMessage(message);
            assertThatIllegalStateException().isThrownBy(stream::synchronize).withMessage(message);
            assertThatIllegalStateException()
                    .isThrownBy(() -> stream.await(MINUTE))
                    .withMessage(message);
            assertThatIllegalStateException()
                    .isThrownBy(() -> stream.waitFor(event))
                    .withMessage(message);
            assertThatIllegalStateException()
                    .isThrownBy(() -> event.record(stream))
                    .withMessage(message);
            assertThatIllegalStateException()
                    .isThrownBy(() -> Copies.fill(stream, memory, 0, 4, (byte) 0))
                    .withMessage(message);
            assertThatIllegalStateException()
                    .isThrownBy(() -> DeviceMemory.allocateAsync(stream, 4))
                    .withMessage(message);
        }
        assertThat(DeviceEmulator.calls("cudaStreamDestroy")).isEqualTo(1);
    }

    @Test
    void closeWaitsForTheWork() throws InterruptedException {
        Stream stream = Stream.create(GPU);
        try (DeviceMemory memory = DeviceMemory.allocate(GPU, 16)) {
            DeviceEmulator.holdStreams(true);
            Copies.fill(stream, memory, 0, 16, (byte) 5);
            Thread closer = Thread.ofPlatform().start(stream::close);
            closer.join(50);
            assertThat(stream.isClosed()).isFalse();
            DeviceEmulator.holdStreams(false);
            closer.join(60_000);
            assertThat(stream.isClosed()).isTrue();
            assertThat(DeviceEmulator.peek(memory.address(), 16)).containsOnly(5);
        }
    }

    @Test
    void heldStreamStaysOpen() {
        Stream stream = Stream.create(GPU);
        Hold hold = stream.hold();
        assertThatIllegalStateException()
                .isThrownBy(stream::close)
                .withMessageContaining("the stream of device 0 stays open: 0 calls are inside it and 1 holders");
        assertThat(stream.isDone()).isTrue();
        hold.close();
        hold.close();
        stream.close();
    }

    @Test
    void failedQueryLeavesTheStreamOpen() {
        Stream stream = Stream.create(GPU);
        DeviceEmulator.fail("cudaStreamQuery", 1, 999);
        assertThatExceptionOfType(CudaException.class)
                .isThrownBy(stream::close)
                .satisfies(e -> assertThat(e.function()).isEqualTo("cudaStreamQuery"));
        assertThat(stream.isClosed()).isFalse();
        stream.close();
    }

    @Test
    void failedDestructionClosesNevertheless() {
        Stream stream = Stream.create(GPU);
        DeviceEmulator.fail("cudaStreamDestroy", 1, 999);
        assertThatExceptionOfType(CudaException.class)
                .isThrownBy(stream::close)
                .withMessage("cudaStreamDestroy failed with cudaErrorUnknown (999): unknown error; stream of device 0");
        assertThat(stream.isClosed()).isTrue();
        stream.close();
    }

    @Test
    void workThatFailsShowsInTheStreamAndLosesTheContext() {
        Stream stream = Stream.create(GPU);
        DeviceMemory memory = DeviceMemory.allocate(GPU, 16);
        DeviceMemory ordered = DeviceMemory.allocateAsync(stream, 16);
        Event event = Event.create(GPU);
        DeviceEmulator.fail("cudaMemsetAsync@stream", 1, 700);
        Copies.fill(stream, memory, 0, 16, (byte) 1);
        assertThatExceptionOfType(CudaException.class)
                .isThrownBy(() -> stream.await(MINUTE))
                .satisfies(e -> assertThat(e.isContextLost()).isTrue())
                .withMessageContaining("cudaErrorIllegalAddress (700)")
                .withMessageContaining("start a new process");
        assertThatExceptionOfType(CudaException.class).isThrownBy(() -> DeviceMemory.allocate(GPU, 1));
        // All is closed nevertheless, and tells of the loss.
        for (AutoCloseable resource : new AutoCloseable[] {ordered, memory, event, stream}) {
            assertThatExceptionOfType(CudaException.class)
                    .as(resource.toString())
                    .isThrownBy(resource::close)
                    .satisfies(e -> assertThat(e.isContextLost()).isTrue());
        }
        assertThat(memory.isClosed()).isTrue();
        assertThat(ordered.isClosed()).isTrue();
        assertThat(event.isClosed()).isTrue();
        assertThat(stream.isClosed()).isTrue();
    }
}
