package io.kvtier.bindings.nixl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.cuda.Device;
import io.kvtier.bindings.cuda.DeviceMemory;
import io.kvtier.bindings.emulator.DeviceEmulator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Descriptors of device memory, on an emulated device. */
@Tag("emulator")
@ExtendWith(DeviceEmulator.class)
class DeviceDescriptorsTest {
    @AfterEach
    void nothingIsLeft() {
        assertThat(NativeHandles.live()).isEmpty();
    }

    @Test
    void partOfDeviceMemoryIsDescribedByAddressAndDevice() {
        try (DeviceMemory memory = DeviceMemory.allocate(Device.of(1), 4096)) {
            Descriptors descriptors = Descriptors.of(MemoryType.VRAM).addDevice(memory, 1024, 512);
            Descriptors.Entry entry = descriptors.entries().getFirst();
            assertThat(entry.address()).isEqualTo(memory.address() + 1024);
            assertThat(entry.length()).isEqualTo(512);
            assertThat(entry.device()).isEqualTo(1);
        }
    }

    @Test
    void whatIsNotInTheMemoryIsRefused() {
        try (DeviceMemory memory = DeviceMemory.allocate(Device.of(0), 4096)) {
            Descriptors descriptors = Descriptors.of(MemoryType.VRAM);
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> descriptors.addDevice(memory, 4000, 97));
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> descriptors.addDevice(memory, -1, 4));
            assertThatIllegalArgumentException().isThrownBy(() -> descriptors.addDevice(memory, 0, 0));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Descriptors.of(MemoryType.DRAM).addDevice(memory, 0, 1))
                    .withMessageContaining("of type DRAM, not VRAM");
            assertThat(descriptors.size()).isZero();
        }
    }
}
