package io.kvtier.bindings.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.kvtier.bindings.Hold;
import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.emulator.DeviceEmulator;
import io.kvtier.bindings.internal.Backoff;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The emulator reports memory that is freed while work uses it, and each test ends without such a report. */
@Tag("emulator")
@ExtendWith(DeviceEmulator.class)
class DeviceMemoryTest {
    private static final Device GPU = new Device(0);
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final long GIB = 1L << 30;

    @AfterEach
    void nothingIsLive() {
        assertThat(NativeHandles.live()).isEmpty();
    }

    @Test
    void memoryIsAllocatedOnItsDevice() {
        Device second = new Device(1);
        GPU.select();
        try (DeviceMemory memory = DeviceMemory.allocate(second, 4097)) {
            assertThat(memory.byteSize()).isEqualTo(4097);
            assertThat(memory.device()).isEqualTo(second);
            assertThat(memory)
                    .hasToString(
                            "device memory (4097 bytes at 0x" + Long.toHexString(memory.address()) + ") of device 1");
            assertThat(PointerAttributes.of(memory.address()))
                    .isEqualTo(new PointerAttributes(PointerAttributes.Type.DEVICE, 1, memory.address(), 0));
            assertThat(PointerAttributes.of(memory.address() + 4096).type()).isEqualTo(PointerAttributes.Type.DEVICE);
        }
    }

    @Test
    void sizeMustBePositive() {
        try (Stream stream = Stream.create(GPU);
                MemoryPool pool = MemoryPool.create(GPU)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> DeviceMemory.allocate(GPU, 0))
                    .withMessage("device memory needs at least 1 byte, got 0");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> DeviceMemory.allocate(GPU, -5))
                    .withMessageContaining("got -5");
            assertThatIllegalArgumentException().isThrownBy(() -> DeviceMemory.allocateAsync(stream, 0));
            assertThatIllegalArgumentException().isThrownBy(() -> DeviceMemory.allocateFrom(pool, stream, -1));
        }
    }

    @Test
    void fullDeviceIsToldWithWhatWasAskedFor() {
        try (Stream stream = Stream.create(GPU);
                MemoryPool pool = MemoryPool.create(GPU)) {
            assertThatExceptionOfType(CudaException.class)
                    .isThrownBy(() -> DeviceMemory.allocate(GPU, GIB + 1))
                    .satisfies(e -> assertThat(e.isOutOfMemory()).isTrue())
                    .satisfies(e -> assertThat(e.isContextLost()).isFalse())
                    .withMessage("cudaMalloc failed with cudaErrorMemoryAllocation (2): out of memory; device 0, "
                            + (GIB + 1) + " bytes");
            assertThatExceptionOfType(CudaException.class)
                    .isThrownBy(() -> DeviceMemory.allocateAsync(stream, GIB + 1))
                    .withMessageContaining("cudaMallocAsync")
                    .withMessageContaining("device 0, " + (GIB + 1) + " bytes");
            assertThatExceptionOfType(CudaException.class)
                    .isThrownBy(() -> DeviceMemory.allocateFrom(pool, stream, GIB + 1))
                    .withMessageContaining("cudaMallocFromPoolAsync")
                    .withMessageContaining("memory pool of device 0, stream of device 0, " + (GIB + 1) + " bytes");
            assertThatExceptionOfType(CudaException.class)
                    .isThrownBy(() -> DeviceMemory.allocate(new Device(4), 1))
                    .withMessageContaining("cudaSetDevice");
        }
    }

    @Test
    void closedMemoryIsRefused() {
        DeviceMemory memory = DeviceMemory.allocate(GPU, 16);
        memory.close();
        memory.close();
        assertThat(memory.isClosed()).isTrue();
        assertThat(DeviceEmulator.calls("cudaFree")).isEqualTo(1);
        String message = "the " + memory + " is closed";
        CopyBatch batch = new CopyBatch(1);
        try (Stream stream = Stream.create(GPU);
                DeviceMemory open = DeviceMemory.allocate(GPU, 16)) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> Copies.copy(stream, memory, 0, open, 0, 16))
                    .withMessage(message);
            assertThatIllegalStateException()
                    .isThrownBy(() -> Copies.copy(stream, open, 0, memory, 0, 16))
                    .withMessage(message);
            assertThatIllegalStateException()
                    .isThrownBy(() -> Copies.fill(stream, memory, 0, 16, (byte) 0))
                    .withMessage(message);
            batch.add(open, 0, memory, 0, 8);
            assertThatIllegalStateException()
                    .isThrownBy(() -> batch.submit(stream))
                    .withMessage(message);
            assertThatIllegalStateException()
                    .isThrownBy(() -> memory.usedBy(stream))
                    .withMessage(message);
            assertThat(DeviceEmulator.calls("cudaMemcpyAsync")).isZero();
        }
        assertThatIllegalStateException().isThrownBy(memory::ipcHandle).withMessage(message);
        assertThatIllegalStateException().isThrownBy(memory::hold).withMessage(message);
    }

    @Test
    void closeWaitsForWorkOfAllStreamsThatUseIt() throws InterruptedException {
        DeviceMemory memory = DeviceMemory.allocate(GPU, 16);
        try (Stream first = Stream.create(GPU);
                Stream second = Stream.create(GPU)) {
            DeviceEmulator.stall("cudaMemsetAsync@stream", 1);
            DeviceEmulator.stall("cudaMemsetAsync@stream", 2);
            Copies.fill(first, memory, 0, 8, (byte) 1);
            Copies.fill(second, memory, 8, 8, (byte) 2);
            Thread closer = Thread.ofPlatform().start(memory::close);
            closer.join(60);
            assertThat(memory.isClosed()).isFalse();
            DeviceEmulator.release();
            closer.join(60_000);
            assertThat(memory.isClosed()).isTrue();
        }
    }

    /** Only what was asked for before the close counts, or a busy stream would keep memory for ever. */
    @Test
    void closeWaitsForNoLaterWork() throws InterruptedException {
        DeviceMemory memory = DeviceMemory.allocate(GPU, 16);
        try (Stream stream = Stream.create(GPU);
                DeviceMemory other = DeviceMemory.allocate(GPU, 16)) {
            DeviceEmulator.stall("cudaMemsetAsync@stream", 1);
            Copies.fill(stream, memory, 0, 8, (byte) 1);
            Thread closer = Thread.ofPlatform().start(memory::close);
            awaitThat(() -> DeviceEmulator.calls("cudaEventQuery") != 0);
            DeviceEmulator.stall("cudaMemsetAsync@stream", 1);
            Copies.fill(stream, other, 0, 8, (byte) 1);
            DeviceEmulator.release();
            closer.join(60_000);
            assertThat(memory.isClosed()).isTrue();
            assertThat(stream.isDone()).isFalse();
            DeviceEmulator.release();
        }
    }

    @Test
    void workOfOthersIsWaitedForOnceItIsTold() throws InterruptedException {
        DeviceMemory memory = DeviceMemory.allocate(GPU, 16);
        try (Stream stream = Stream.create(GPU);
                DeviceMemory busy = DeviceMemory.allocate(GPU, 16)) {
            DeviceEmulator.holdStreams(true);
            Copies.fill(stream, busy, 0, 16, (byte) 1);
            memory.usedBy(stream);
            Thread closer = Thread.ofPlatform().start(memory::close);
            closer.join(50);
            assertThat(memory.isClosed()).isFalse();
            DeviceEmulator.holdStreams(false);
            closer.join(60_000);
            assertThat(memory.isClosed()).isTrue();
        }
    }

    @Test
    void heldMemoryStaysOpen() {
        DeviceMemory memory = DeviceMemory.allocate(GPU, 16);
        Hold hold = memory.hold();
        assertThatIllegalStateException()
                .isThrownBy(memory::close)
                .withMessageContaining("the " + memory + " stays open: 0 calls are inside it and 1 holders");
        assertThat(memory.isClosed()).isFalse();
        hold.close();
        memory.close();
    }

    @Test
    void streamOrderedMemoryIsFreedInOrder() {
        try (Stream stream = Stream.create(GPU)) {
            DeviceEmulator.holdStreams(true);
            DeviceMemory memory = DeviceMemory.allocateAsync(stream, 16);
            Copies.fill(stream, memory, 0, 16, (byte) 1);
            memory.close();
            assertThat(memory.isClosed()).as("without waiting").isTrue();
            assertThat(DeviceEmulator.live()).isEqualTo(2);
            DeviceEmulator.holdStreams(false);
            stream.synchronize();
            assertThat(DeviceEmulator.calls("cudaFreeAsync")).isEqualTo(1);
        }
    }

    @Test
    void releaseIsOrderedBehindOtherStreams() {
        try (Stream owner = Stream.create(GPU);
                Stream user = Stream.create(GPU);
                Event allocated = Event.create(GPU)) {
            DeviceEmulator.holdStreams(true);
            DeviceMemory memory = DeviceMemory.allocateAsync(owner, 16);
            allocated.record(owner);
            user.waitFor(allocated);
            Copies.fill(user, memory, 0, 16, (byte) 1);
            memory.close();
            assertThat(memory.isClosed()).isTrue();
            DeviceEmulator.holdStreams(false);
            assertThat(owner.await(MINUTE)).isTrue();
            assertThat(user.isDone()).as("the owner waited for it").isTrue();
        }
    }

    @Test
    void memoryOutlivesItsOwner() throws InterruptedException {
        DeviceMemory memory;
        try (Stream owner = Stream.create(GPU)) {
            memory = DeviceMemory.allocateAsync(owner, 16);
        }
        try (Stream user = Stream.create(GPU)) {
            DeviceEmulator.stall("cudaMemsetAsync@stream", 1);
            Copies.fill(user, memory, 0, 16, (byte) 1);
            Thread closer = Thread.ofPlatform().start(memory::close);
            closer.join(50);
            assertThat(memory.isClosed()).isFalse();
            DeviceEmulator.release();
            closer.join(60_000);
            assertThat(memory.isClosed()).isTrue();
            assertThat(DeviceEmulator.calls("cudaFree")).isEqualTo(1);
        }
    }

    /** The owner may not go between the moment when it waits for the others and the one when it frees the memory. */
    @Test
    void ownerThatIsBeingClosedStillFreesInOrder() throws InterruptedException {
        Stream owner = Stream.create(GPU);
        DeviceMemory memory = DeviceMemory.allocateAsync(owner, 16);
        owner.synchronize();
        try (Stream user = Stream.create(GPU)) {
            DeviceEmulator.holdStreams(true);
            Copies.fill(user, memory, 0, 16, (byte) 1);
            DeviceEmulator.stall("cudaStreamWaitEvent", 1);
            Thread memoryCloser = Thread.ofPlatform().start(memory::close);
            awaitThat(() -> DeviceEmulator.stalled() != 0);
            Thread ownerCloser = Thread.ofPlatform().start(owner::close);
            awaitThat(() -> ownerCloser.getState() == Thread.State.TIMED_WAITING);
            DeviceEmulator.release();
            memoryCloser.join(60_000);
            assertThat(memory.isClosed()).isTrue();
            assertThat(DeviceEmulator.calls("cudaFreeAsync")).isEqualTo(1);
            assertThat(owner.isClosed()).isFalse();
            DeviceEmulator.holdStreams(false);
            ownerCloser.join(60_000);
            assertThat(owner.isClosed()).isTrue();
        }
    }

    @Test
    void failedReleaseClosesNevertheless() {
        DeviceMemory memory = DeviceMemory.allocate(GPU, 16);
        DeviceEmulator.fail("cudaFree", 1, 999);
        assertThatExceptionOfType(CudaException.class)
                .isThrownBy(memory::close)
                .withMessage("cudaFree failed with cudaErrorUnknown (999): unknown error; " + memory);
        assertThat(memory.isClosed()).isTrue();
    }

    @Test
    void memoryStaysOpenWhenNobodyKnowsOfItsWork() {
        DeviceMemory memory = DeviceMemory.allocate(GPU, 16);
        try (Stream stream = Stream.create(GPU)) {
            Copies.fill(stream, memory, 0, 16, (byte) 1);
            DeviceEmulator.fail("cudaStreamQuery", 1, 999);
            assertThatExceptionOfType(CudaException.class).isThrownBy(memory::close);
            assertThat(memory.isClosed()).isFalse();
            memory.close();
        }
    }

    @Test
    void handleForOtherProcessesIsOfPlainMemoryOnly() {
        try (Stream stream = Stream.create(GPU);
                DeviceMemory plain = DeviceMemory.allocate(GPU, 4096);
                DeviceMemory ordered = DeviceMemory.allocateAsync(stream, 4096)) {
            IpcMemoryHandle handle = plain.ipcHandle();
            assertThat(handle.byteSize()).isEqualTo(4096);
            assertThat(IpcMemoryHandle.of(handle.toBytes(), 4096)).isEqualTo(handle);
            assertThat(IpcMemoryHandle.of(handle.toBytes(), 4095)).isNotEqualTo(handle);
            assertThat(handle).isNotEqualTo(IpcEventHandle.of(handle.toBytes()));
            assertThatExceptionOfType(CudaException.class)
                    .isThrownBy(() -> DeviceMemory.open(GPU, handle))
                    .satisfies(e -> assertThat(e.function()).isEqualTo("cudaIpcOpenMemHandle"));
            assertThatIllegalStateException().isThrownBy(ordered::ipcHandle).withMessageContaining("STREAM_ORDERED");
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> IpcMemoryHandle.of(new byte[65], 1))
                .withMessageContaining("64 bytes, got 65");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> IpcMemoryHandle.of(new byte[64], 0))
                .withMessageContaining("got 0");
    }

    private static void awaitThat(BooleanSupplier condition) {
        assertThat(Backoff.until(condition, Backoff.deadline(MINUTE))).isTrue();
    }
}
