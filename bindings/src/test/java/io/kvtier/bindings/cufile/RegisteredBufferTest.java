package io.kvtier.bindings.cufile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvtier.bindings.cuda.DeviceMemory;
import io.kvtier.bindings.cuda.PinnedMemory;
import io.kvtier.bindings.cuda.Stream;
import io.kvtier.bindings.emulator.DeviceEmulator;
import io.kvtier.bindings.posix.MappedMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class RegisteredBufferTest extends OnDevice {
    private static final int SIZE = 16 * PAGE;

    @Test
    void memoryStaysOpenAsLongAsItIsRegistered() {
        DeviceMemory memory = DeviceMemory.allocate(device, SIZE);
        PinnedMemory pinned = PinnedMemory.allocate(device, SIZE);
        MappedMemory mapped = MappedMemory.anonymous(SIZE);
        RegisteredBuffer one = RegisteredBuffer.register(driver, memory);
        RegisteredBuffer two = RegisteredBuffer.register(driver, pinned);
        RegisteredBuffer three = RegisteredBuffer.register(driver, mapped);
        for (AutoCloseable held : new AutoCloseable[] {memory, pinned, mapped}) {
            assertThatThrownBy(held::close).isInstanceOf(IllegalStateException.class);
        }
        assertThatThrownBy(driver::close).hasMessageContaining("3 holders");
        one.close();
        one.close();
        two.close();
        three.close();
        assertThat(one.isClosed()).isTrue();
        memory.close();
        pinned.close();
        mapped.close();
        assertThat(DeviceEmulator.calls("cuFileBufDeregister")).isEqualTo(3);
    }

    @Test
    void memoryIsRegisteredOnce() {
        try (DeviceMemory memory = DeviceMemory.allocate(device, SIZE);
                Arena arena = Arena.ofShared()) {
            MemorySegment host = arena.allocate(SIZE, PAGE);
            RegisteredBuffer first = RegisteredBuffer.register(driver, memory);
            RegisteredBuffer middle = RegisteredBuffer.register(driver, host.asSlice(PAGE, PAGE));
            assertThatThrownBy(() -> RegisteredBuffer.register(driver, memory))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContainingAll("cannot register", "65536 bytes", "holds some of its memory", "close it");
            for (MemorySegment overlapping : new MemorySegment[] {
                host,
                host.asSlice(PAGE, PAGE),
                host.asSlice(0, PAGE + 1),
                host.asSlice(2 * PAGE - 1),
                host.asSlice(PAGE + 1, 1)
            }) {
                assertThatThrownBy(() -> RegisteredBuffer.register(driver, overlapping))
                        .isInstanceOf(IllegalArgumentException.class);
            }
            assertThat(DeviceEmulator.calls("cuFileBufRegister")).isEqualTo(2);
            RegisteredBuffer before = RegisteredBuffer.register(driver, host.asSlice(0, PAGE));
            RegisteredBuffer behind = RegisteredBuffer.register(driver, host.asSlice(2 * PAGE));
            middle.close();
            RegisteredBuffer.register(driver, host.asSlice(PAGE, PAGE)).close();
            before.close();
            behind.close();
            first.close();
            RegisteredBuffer.register(driver, memory).close();
        }
    }

    @Test
    void whatCannotBeRegisteredLeavesNothingBehind() {
        assertThatThrownBy(() -> RegisteredBuffer.register(driver, MemorySegment.ofArray(new byte[PAGE])))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("heap: 4096 bytes");
        assertThatThrownBy(() -> RegisteredBuffer.register(driver, MemorySegment.NULL))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("1 byte at least");
        assertThatThrownBy(() -> RegisteredBuffer.register(driver, closedSegment()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("is closed");
        DeviceMemory memory = DeviceMemory.allocate(device, SIZE);
        DeviceEmulator.fail("cuFileBufRegister", 1, 5036);
        assertThatThrownBy(() -> RegisteredBuffer.register(driver, memory))
                .isInstanceOf(CuFileException.class)
                .hasMessageContainingAll("CU_FILE_GPU_MEMORY_PINNING_FAILED (5036)", "65536 bytes at 0x");
        DeviceEmulator.fail("cuFileBufRegister", 1, 5011);
        assertThatThrownBy(() -> RegisteredBuffer.register(driver, memory))
                .isInstanceOfSatisfying(
                        CuFileException.class, e -> assertThat(e.cudaCode()).isEqualTo(700))
                .hasMessageContaining("CUDA driver error 700");
        memory.close();
        assertThatThrownBy(() -> RegisteredBuffer.register(driver, memory))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("is closed");
    }

    private static MemorySegment closedSegment() {
        try (Arena arena = Arena.ofConfined()) {
            return arena.allocate(10);
        }
    }

    @Test
    void failureToDeregisterIsToldAndEverythingIsLetGo() {
        DeviceMemory memory = DeviceMemory.allocate(device, SIZE);
        RegisteredBuffer buffer = RegisteredBuffer.register(driver, memory);
        DeviceEmulator.fail("cuFileBufDeregister", 1, 5030);
        assertThatThrownBy(buffer::close)
                .hasMessageContaining("cuFileBufDeregister failed with CU_FILE_INTERNAL_ERROR");
        buffer.close();
        RegisteredBuffer.register(driver, memory).close();
        memory.close();
    }

    @Test
    void hostMemoryThatWasClosedTooEarlyIsRefusedAndDeregistered() {
        RegisteredBuffer buffer;
        try (Arena arena = Arena.ofShared()) {
            buffer = RegisteredBuffer.register(driver, arena.allocate(SIZE));
        }
        try (RegisteredFile file = file("f")) {
            assertThatThrownBy(() -> file.read(buffer, 0, SIZE, 0)).isInstanceOf(IllegalStateException.class);
            assertThat(DeviceEmulator.calls("cuFileRead")).isZero();
        }
        buffer.close();
    }

    @Test
    void readOnlyMemoryIsWrittenToFilesOnly() {
        try (Arena arena = Arena.ofShared();
                RegisteredFile file = file("f")) {
            MemorySegment memory = arena.allocate(SIZE, PAGE).fill((byte) 3);
            try (RegisteredBuffer buffer = RegisteredBuffer.register(driver, memory.asReadOnly())) {
                file.write(buffer, 0, SIZE, 0);
                assertThatThrownBy(() -> file.read(buffer, 0, SIZE, 0))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("read-only");
            }
        }
    }

    @Test
    void streamOrderedMemoryCanBeRegistered() {
        try (Stream stream = Stream.create(device);
                RegisteredFile file = file("f")) {
            try (DeviceMemory memory = DeviceMemory.allocateAsync(stream, SIZE)) {
                stream.synchronize();
                try (RegisteredBuffer buffer = RegisteredBuffer.register(driver, memory)) {
                    put(memory, random(1, SIZE));
                    file.write(buffer, 0, SIZE, 0);
                }
            }
            stream.synchronize();
        }
    }
}
