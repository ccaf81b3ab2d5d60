package io.kvtier.bindings.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.emulator.DeviceEmulator;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@Tag("emulator")
@ExtendWith(DeviceEmulator.class)
class EventTest {
    private static final Device GPU = new Device(0);
    private static final Duration MINUTE = Duration.ofMinutes(1);

    @AfterEach
    void nothingIsLive() {
        assertThat(NativeHandles.live()).isEmpty();
    }

    @Test
    void eventIsDoneWhenTheStreamGotThere() {
        try (Stream stream = Stream.create(GPU);
                DeviceMemory memory = DeviceMemory.allocate(GPU, 16);
                Event event = Event.create(GPU)) {
            assertThat(event.device()).isEqualTo(GPU);
            assertThat(event.isDone()).as("never recorded").isTrue();
            DeviceEmulator.holdStreams(true);
            Copies.fill(stream, memory, 0, 16, (byte) 1);
            event.record(stream);
            assertThat(event.isDone()).isFalse();
            assertThat(event.await(Duration.ofMillis(20))).isFalse();
            DeviceEmulator.holdStreams(false);
            assertThat(event.await(MINUTE)).isTrue();
            event.synchronize();
            assertThat(DeviceEmulator.peek(memory.address(), 16)).containsOnly(1);
            DeviceEmulator.holdStreams(true);
            Copies.fill(stream, memory, 0, 16, (byte) 2);
            assertThat(event.isDone()).as("later work is not its").isTrue();
            event.record(stream);
            assertThat(event.isDone()).as("recorded again").isFalse();
            DeviceEmulator.holdStreams(false);
            event.synchronize();
        }
    }

    @Test
    void interruptedThreadStopsWaiting() {
        try (Stream stream = Stream.create(GPU);
                DeviceMemory memory = DeviceMemory.allocate(GPU, 16);
                Event event = Event.create(GPU, EventOption.BLOCKING_SYNC)) {
            DeviceEmulator.holdStreams(true);
            Copies.fill(stream, memory, 0, 16, (byte) 1);
            event.record(stream);
            Thread.currentThread().interrupt();
            assertThat(event.await(MINUTE)).isFalse();
            assertThat(Thread.interrupted()).isTrue();
            DeviceEmulator.holdStreams(false);
        }
    }

    @Test
    void timeBetweenTwoEventsIsMeasured() {
        try (Stream stream = Stream.create(GPU);
                Event start = Event.create(GPU, EventOption.TIMING);
                Event end = Event.create(GPU, EventOption.TIMING);
                Event untimed = Event.create(GPU)) {
            assertThatExceptionOfType(CudaException.class)
                    .isThrownBy(() -> end.elapsedMillis(start))
                    .satisfies(e -> assertThat(e.function()).isEqualTo("cudaEventElapsedTime"));
            start.record(stream);
            end.record(stream);
            assertThat(end.await(MINUTE)).isTrue();
            assertThat(end.elapsedMillis(start)).isBetween(0f, 60_000f);
            assertThat(start.elapsedMillis(end)).isBetween(-60_000f, 0f);
            assertThat(end.elapsedMillis(end)).isZero();
            assertThatIllegalStateException()
                    .isThrownBy(() -> end.elapsedMillis(untimed))
                    .withMessageContaining("TIMING");
            assertThatIllegalStateException().isThrownBy(() -> untimed.elapsedMillis(start));
        }
    }

    @Test
    void optionsAndDevicesMustFit() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Event.create(GPU, EventOption.TIMING, EventOption.INTERPROCESS))
                .withMessageContaining("[TIMING, INTERPROCESS]");
        try (Stream other = Stream.create(new Device(1));
                Event event = Event.create(GPU)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> event.record(other))
                    .withMessage("an event of device 0 cannot be recorded on a stream of device 1");
            assertThatIllegalStateException()
                    .isThrownBy(event::ipcHandle)
                    .withMessageContaining("must be created with INTERPROCESS");
        }
    }

    @Test
    void ownHandleCannotBeOpened() {
        try (Event event = Event.create(GPU, EventOption.INTERPROCESS)) {
            IpcEventHandle handle = event.ipcHandle();
            assertThat(handle.toBytes()).hasSize(IpcHandle.BYTES);
            assertThat(IpcEventHandle.of(handle.toBytes())).isEqualTo(handle).hasSameHashCodeAs(handle);
            assertThatExceptionOfType(CudaException.class)
                    .isThrownBy(() -> Event.open(GPU, handle))
                    .satisfies(e -> assertThat(e.function()).isEqualTo("cudaIpcOpenEventHandle"));
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> IpcEventHandle.of(new byte[63]))
                .withMessageContaining("64 bytes, got 63");
    }

    @Test
    void closedEventIsRefused() {
        Event event = Event.create(GPU, EventOption.TIMING);
        Event interprocess = Event.create(GPU, EventOption.INTERPROCESS);
        event.close();
        event.close();
        interprocess.close();
        assertThat(event.isClosed()).isTrue();
        String message = "the event of device 0 is closed";
        try (Stream stream = Stream.create(GPU);
                Event open = Event.create(GPU, EventOption.TIMING)) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> event.record(stream))
                    .withMessage(message);
            assertThatIllegalStateException()
                    .isThrownBy(() -> stream.waitFor(event))
                    .withMessage(message);
            assertThatIllegalStateException().isThrownBy(event::isDone).withMessage(message);
            assertThatIllegalStateException().isThrownBy(event::synchronize).withMessage(message);
            assertThatIllegalStateException()
                    .isThrownBy(() -> event.await(MINUTE))
                    .withMessage(message);
            assertThatIllegalStateException()
                    .isThrownBy(() -> event.elapsedMillis(open))
                    .withMessage(message);
            assertThatIllegalStateException()
                    .isThrownBy(() -> open.elapsedMillis(event))
                    .withMessage(message);
            assertThatIllegalStateException()
                    .isThrownBy(interprocess::ipcHandle)
                    .withMessage(message);
            assertThat(stream.isDone()).isTrue();
        }
        assertThat(DeviceEmulator.calls("cudaEventDestroy")).isEqualTo(3);
    }

    /** Streams that wait for a closed event still wait. */
    @Test
    void eventMayBeClosedBeforeItIsReached() {
        try (Stream first = Stream.create(GPU);
                Stream second = Stream.create(GPU);
                DeviceMemory memory = DeviceMemory.allocate(GPU, 16)) {
            DeviceEmulator.stall("cudaMemsetAsync@stream", 1);
            Copies.fill(first, memory, 0, 16, (byte) 1);
            try (Event event = Event.create(GPU)) {
                event.record(first);
                second.waitFor(event);
            }
            Copies.fill(second, memory, 0, 16, (byte) 2);
            assertThat(second.await(Duration.ofMillis(30))).isFalse();
            DeviceEmulator.release();
            assertThat(second.await(MINUTE)).isTrue();
            assertThat(DeviceEmulator.peek(memory.address(), 16)).containsOnly(2);
        }
    }

    @Test
    void failedDestructionClosesNevertheless() {
        Event event = Event.create(GPU);
        DeviceEmulator.fail("cudaEventDestroy", 1, 999);
        assertThatExceptionOfType(CudaException.class)
                .isThrownBy(event::close)
                .withMessageContaining("cudaEventDestroy failed with cudaErrorUnknown (999)");
        assertThat(event.isClosed()).isTrue();
    }
}
