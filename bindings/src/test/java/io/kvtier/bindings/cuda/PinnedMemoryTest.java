package io.kvtier.bindings.cuda;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.cuda.generated.CudaApi;
import io.kvtier.bindings.emulator.DeviceEmulator;
import io.kvtier.bindings.internal.Backoff;
import io.kvtier.bindings.posix.MappedMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@Tag("emulator")
@ExtendWith(DeviceEmulator.class)
class PinnedMemoryTest {
    private static final Device GPU = new Device(0);
    private static final Duration MINUTE = Duration.ofMinutes(1);

    @AfterEach
    void nothingIsLive() {
        assertThat(NativeHandles.live()).isEmpty();
    }

    @Test
    void allocatedMemoryIsUsableByHostAndDevice() {
        try (PinnedMemory memory = PinnedMemory.allocate(GPU, 10_000);
                DeviceMemory device = DeviceMemory.allocate(GPU, 10_000);
                Stream stream = Stream.create(GPU)) {
            assertThat(memory.segment().byteSize()).isEqualTo(10_000);
            assertThat(memory.segment().address()).isEqualTo(memory.address());
            assertThat(PointerAttributes.of(memory.address() + 9_999))
                    .isEqualTo(new PointerAttributes(
                            PointerAttributes.Type.HOST, 0, memory.address() + 9_999, memory.address() + 9_999));
            memory.segment().fill((byte) 42);
            Copies.copy(stream, device, 0, memory, 0, 10_000);
            assertThat(stream.await(MINUTE)).isTrue();
            assertThat(DeviceEmulator.peek(device.address(), 10_000)).containsOnly(42);
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> memory.segment().get(JAVA_BYTE, 10_000));
        }
    }

    @Test
    void optionsReachTheRuntime() {
        try (PinnedMemory memory = PinnedMemory.allocate(
                GPU, 4096, PinnedOption.PORTABLE, PinnedOption.MAPPED, PinnedOption.WRITE_COMBINED)) {
            assertThat(memory.deviceAddress()).isEqualTo(memory.address());
        }
        try (PinnedMemory memory = PinnedMemory.allocate(GPU, 4096)) {
            assertThatIllegalStateException()
                    .isThrownBy(memory::deviceAddress)
                    .withMessageContaining("must be made with MAPPED");
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> PinnedMemory.allocate(GPU, 4096, PinnedOption.READ_ONLY))
                .withMessageContaining("READ_ONLY is for registered memory only");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> PinnedMemory.allocate(GPU, 0))
                .withMessageContaining("at least 1 byte, got 0");
        assertThatIllegalArgumentException().isThrownBy(() -> PinnedMemory.allocate(GPU, -1));
    }

    @Test
    void tooMuchIsToldWithWhatWasAskedFor() {
        long tooMuch = 1L << 60;
        assertThatExceptionOfType(CudaException.class)
                .isThrownBy(() -> PinnedMemory.allocate(GPU, tooMuch, PinnedOption.PORTABLE))
                .satisfies(e -> assertThat(e.isOutOfMemory()).isTrue())
                .withMessageContaining("cudaHostAlloc")
                .withMessageContaining("device 0, " + tooMuch + " bytes, options [PORTABLE]");
    }

    @Test
    void segmentEndsWithTheMemory() {
        PinnedMemory memory = PinnedMemory.allocate(GPU, 64);
        MemorySegment segment = memory.segment();
        memory.close();
        memory.close();
        assertThat(memory.isClosed()).isTrue();
        assertThat(DeviceEmulator.calls("cudaFreeHost")).isEqualTo(1);
        assertThatIllegalStateException().isThrownBy(() -> segment.get(JAVA_BYTE, 0));
        assertThatIllegalStateException().isThrownBy(memory::segment).withMessage("the " + memory + " is closed");
    }

    /** Another library may be reading the segment in a call of its own. */
    @Test
    void nativeCallOfAnotherThreadKeepsItOpen() throws InterruptedException {
        PinnedMemory memory = PinnedMemory.allocate(GPU, 64);
        DeviceEmulator.stall("cudaPointerGetAttributes", 1);
        try (Arena arena = Arena.ofShared()) {
            MemorySegment attributes = arena.allocate(128);
            MemorySegment segment = memory.segment();
            Thread caller = Thread.ofPlatform().start(() -> CudaApi.cudaPointerGetAttributes(attributes, segment));
            awaitThat(() -> DeviceEmulator.stalled() != 0);
            assertThatIllegalStateException()
                    .isThrownBy(memory::close)
                    .withMessageContaining("the " + memory + " stays open: a native call uses it");
            assertThat(memory.isClosed()).isFalse();
            DeviceEmulator.release();
            caller.join(60_000);
            memory.segment().fill((byte) 1);
            memory.close();
        }
    }

    @Test
    void existingMemoryIsRegistered() {
        try (MappedMemory mapped = MappedMemory.anonymous(3 * 4096);
                DeviceMemory device = DeviceMemory.allocate(GPU, 4096);
                Stream stream = Stream.create(GPU)) {
            MemorySegment part = mapped.segment().asSlice(4096, 4096);
            part.fill((byte) 17);
            try (PinnedMemory memory = PinnedMemory.register(GPU, part, PinnedOption.MAPPED, PinnedOption.PORTABLE)) {
                assertThat(memory.segment()).isEqualTo(part);
                assertThat(memory.deviceAddress()).isEqualTo(part.address());
                assertThat(memory.byteSize()).isEqualTo(4096);
                assertThat(PointerAttributes.of(part.address()).type()).isEqualTo(PointerAttributes.Type.HOST);
                Copies.copy(stream, device, 0, memory, 0, 4096);
                assertThat(stream.await(MINUTE)).isTrue();
            }
            assertThat(DeviceEmulator.peek(device.address(), 4096)).containsOnly(17);
            assertThat(PointerAttributes.of(part.address()))
                    .isEqualTo(new PointerAttributes(PointerAttributes.Type.UNREGISTERED, -2, 0, part.address()));
            part.fill((byte) 18);
        }
        assertThat(DeviceEmulator.calls("cudaHostUnregister")).isEqualTo(1);
    }

    @Test
    void memoryIsRegisteredOnceOnly() {
        try (MappedMemory mapped = MappedMemory.anonymous(2 * 4096);
                PinnedMemory memory = PinnedMemory.register(GPU, mapped.segment())) {
            MemorySegment part = mapped.segment().asSlice(4096);
            assertThatExceptionOfType(CudaException.class)
                    .isThrownBy(() -> PinnedMemory.register(GPU, part))
                    .withMessageContaining("cudaHostRegister failed with cudaErrorHostMemoryAlreadyRegistered (712)")
                    .withMessageContaining("device 0, 4096 bytes at 0x" + Long.toHexString(part.address()))
                    .withMessageContaining("memory can be pinned once only");
            assertThat(DeviceEmulator.takeMisuse()).hasSize(1);
            assertThat(memory.isClosed()).isFalse();
        }
    }

    @Test
    void whatCannotBePinnedIsRefusedBeforeTheRuntimeSeesIt() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> PinnedMemory.register(GPU, MemorySegment.ofArray(new byte[64])))
                .withMessageContaining("memory on the heap");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> PinnedMemory.register(GPU, MemorySegment.NULL))
                .withMessageContaining("at least 1 byte");
        Arena closed = Arena.ofShared();
        MemorySegment gone = closed.allocate(64);
        closed.close();
        assertThatIllegalStateException()
                .isThrownBy(() -> PinnedMemory.register(GPU, gone))
                .withMessageContaining("is closed");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(4096, 4096);
            assertThatIllegalArgumentException().isThrownBy(() -> PinnedMemory.register(GPU, memory.asSlice(0, 0)));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> PinnedMemory.register(GPU, memory.asReadOnly(), PinnedOption.PORTABLE))
                    .withMessageContaining("must be pinned with READ_ONLY, got [PORTABLE]");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> PinnedMemory.register(GPU, memory, PinnedOption.WRITE_COMBINED))
                    .withMessageContaining("WRITE_COMBINED is for allocated memory only");
            assertThat(DeviceEmulator.calls("cudaHostRegister")).isZero();
            assertThatExceptionOfType(CudaException.class)
                    .as("the first emulated device cannot")
                    .isThrownBy(() -> PinnedMemory.register(GPU, memory.asReadOnly(), PinnedOption.READ_ONLY))
                    .satisfies(e -> assertThat(e.code()).isEqualTo(801));
        }
    }

    @Test
    void memoryOfAnotherThreadIsRefused() throws InterruptedException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(4096, 4096);
            Thread other = Thread.ofPlatform()
                    .unstarted(() -> assertThatIllegalStateException()
                            .isThrownBy(() -> PinnedMemory.register(GPU, memory))
                            .withMessageContaining("another thread"));
            Throwable[] failure = new Throwable[1];
            other.setUncaughtExceptionHandler((_, e) -> failure[0] = e);
            other.start();
            other.join(60_000);
            assertThat(failure[0]).isNull();
            assertThat(DeviceEmulator.calls("cudaHostRegister")).isZero();
        }
    }

    /** The owner should have closed the registration first; work with it would hit memory that may be others' by now. */
    @Test
    void freedMemoryIsNotUsedAnyMore() {
        PinnedMemory memory;
        try (MappedMemory mapped = MappedMemory.anonymous(4096)) {
            memory = PinnedMemory.register(GPU, mapped.segment());
        }
        try (DeviceMemory device = DeviceMemory.allocate(GPU, 64);
                Stream stream = Stream.create(GPU)) {
            assertThatIllegalStateException()
                    .isThrownBy(() -> Copies.copy(stream, memory, 0, device, 0, 64))
                    .withMessageContaining("was freed by its owner");
            assertThatIllegalStateException().isThrownBy(() -> Copies.copy(stream, device, 0, memory, 0, 64));
            assertThat(DeviceEmulator.calls("cudaMemcpyAsync")).isZero();
        }
        memory.close();
    }

    @Test
    void closeWaitsForCopies() throws InterruptedException {
        PinnedMemory memory = PinnedMemory.allocate(GPU, 64);
        try (DeviceMemory device = DeviceMemory.allocate(GPU, 64);
                Stream stream = Stream.create(GPU)) {
            DeviceEmulator.holdStreams(true);
            Copies.copy(stream, memory, 0, device, 0, 64);
            Thread closer = Thread.ofPlatform().start(memory::close);
            closer.join(50);
            assertThat(memory.isClosed()).isFalse();
            assertThat(memory.segment().get(JAVA_BYTE, 0)).isZero();
            DeviceEmulator.holdStreams(false);
            closer.join(60_000);
            assertThat(memory.isClosed()).isTrue();
        }
    }

    @Test
    void failedReleaseClosesNevertheless() {
        PinnedMemory allocated = PinnedMemory.allocate(GPU, 64);
        DeviceEmulator.fail("cudaFreeHost", 1, 999);
        assertThatExceptionOfType(CudaException.class)
                .isThrownBy(allocated::close)
                .withMessageContaining(allocated.toString());
        try (Arena arena = Arena.ofConfined()) {
            PinnedMemory registered = PinnedMemory.register(GPU, arena.allocate(4096, 4096));
            DeviceEmulator.fail("cudaHostUnregister", 1, 999);
            assertThatExceptionOfType(CudaException.class)
                    .isThrownBy(registered::close)
                    .withMessageContaining("registered memory (4096 bytes");
        }
    }

    private static void awaitThat(BooleanSupplier condition) {
        assertThat(Backoff.until(condition, Backoff.deadline(MINUTE))).isTrue();
    }
}
