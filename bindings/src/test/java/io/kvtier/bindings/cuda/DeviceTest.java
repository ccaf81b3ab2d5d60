package io.kvtier.bindings.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.emulator.DeviceEmulator;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@Tag("emulator")
@ExtendWith(DeviceEmulator.class)
class DeviceTest {
    private static final long GIB = 1L << 30;

    @AfterEach
    void nothingIsLive() {
        assertThat(NativeHandles.live()).isEmpty();
    }

    @Test
    void devicesAreCounted() {
        assertThat(Device.count()).isEqualTo(2);
        assertThat(Device.of(1)).isEqualTo(new Device(1)).hasToString("device 1");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Device.of(2))
                .withMessage("there are 2 devices, from 0; got ordinal 2");
        assertThatIllegalArgumentException().isThrownBy(() -> Device.of(-1)).withMessageContaining("-1");
        assertThatIllegalArgumentException().isThrownBy(() -> new Device(-3)).withMessageContaining("got -3");
    }

    @Test
    void propertiesAreThoseOfTheRuntimesOwnStructure() {
        DeviceProperties properties = new Device(1).properties();
        assertThat(properties.name()).isEqualTo("kvtier emulated device 1");
        assertThat(properties.uuid()).isEqualTo(uuid("kvtier emulator\u0001"));
        assertThat(properties.totalMemory()).isEqualTo(GIB);
        assertThat(properties.computeMajor()).isEqualTo(9);
        assertThat(properties.computeMinor()).isZero();
        assertThat(properties.pciBusId()).isEqualTo("0000:02:00.0");
        String function = DeviceEmulator.major() == 12 ? "cudaGetDeviceProperties_v2" : "cudaGetDeviceProperties";
        assertThat(DeviceEmulator.calls(function)).isEqualTo(1);
    }

    private static UUID uuid(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        long high = 0;
        long low = 0;
        for (int i = 0; i < 8; i++) {
            high = high << 8 | bytes[i];
            low = low << 8 | bytes[i + 8];
        }
        return new UUID(high, low);
    }

    @Test
    void everyAttributeHasAValue() {
        Device device = new Device(1);
        for (DeviceAttribute attribute : DeviceAttribute.values()) {
            assertThat(device.attribute(attribute)).as(attribute.name()).isNotNegative();
        }
        assertThat(device.attribute(DeviceAttribute.WARP_SIZE)).isEqualTo(32);
        assertThat(device.attribute(DeviceAttribute.PCI_BUS)).isEqualTo(2);
        assertThat(device.attribute(DeviceAttribute.ASYNC_ENGINES)).isEqualTo(3);
        assertThat(device.attribute(DeviceAttribute.COMPUTE_MAJOR)).isEqualTo(9);
        assertThat(device.attribute(DeviceAttribute.COMPUTE_MINOR)).isZero();
        assertThat(device.attribute(DeviceAttribute.MEMORY_POOLS)).isEqualTo(1);
    }

    @Test
    void freeMemoryIsThatOfTheDevice() {
        Device first = new Device(0);
        Device second = new Device(1);
        try (DeviceMemory memory = DeviceMemory.allocate(second, 123_456)) {
            assertThat(first.memoryInfo()).isEqualTo(new MemoryInfo(GIB, GIB));
            assertThat(second.memoryInfo()).isEqualTo(new MemoryInfo(GIB - memory.byteSize(), GIB));
        }
        assertThat(second.memoryInfo().free()).isEqualTo(GIB);
    }

    @Test
    void devicesReachEachOther() {
        Device first = new Device(0);
        Device second = new Device(1);
        assertThat(first.canAccess(second)).isTrue();
        assertThat(first.canAccess(first)).isFalse();
        first.enableAccess(second);
        first.enableAccess(second);
        first.disableAccess(second);
        assertThatExceptionOfType(CudaException.class)
                .isThrownBy(() -> first.disableAccess(second))
                .withMessageContaining("cudaDeviceDisablePeerAccess")
                .withMessageContaining("cudaErrorPeerAccessNotEnabled (705)")
                .withMessageContaining("device 0, peer device 1");
        assertThatExceptionOfType(CudaException.class)
                .isThrownBy(() -> first.enableAccess(new Device(7)))
                .satisfies(e -> assertThat(e.code()).isEqualTo(101));
    }

    @Test
    void selectionBelongsToTheThread() throws InterruptedException {
        new Device(1).select();
        AtomicInteger seen = new AtomicInteger(-1);
        Thread other = Thread.ofPlatform().start(() -> seen.set(Device.current().ordinal()));
        other.join();
        assertThat(seen).hasValue(0);
        assertThat(Device.current()).isEqualTo(new Device(1));
        new Device(0).select();
        assertThat(Device.current()).isEqualTo(new Device(0));
        assertThatExceptionOfType(CudaException.class)
                .isThrownBy(() -> new Device(9).select())
                .withMessageContaining("cudaSetDevice")
                .withMessageContaining("device 9");
        assertThat(Device.current()).isEqualTo(new Device(0));
    }

    /** Virtual threads change their carriers whenever they wait, and each carrier has a selection of its own. */
    @Test
    void callsSelectTheirDeviceOnAnyThread() throws InterruptedException {
        List<Throwable> failures = new ArrayList<>();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            Device device = new Device(i % 2);
            threads.add(Thread.ofVirtual()
                    .uncaughtExceptionHandler((_, e) -> {
                        synchronized (failures) {
                            failures.add(e);
                        }
                    })
                    .start(() -> useWithPauses(device)));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(failures).isEmpty();
    }

    private static void useWithPauses(Device device) {
        for (int i = 0; i < 20; i++) {
            try (Stream stream = Stream.create(device);
                    DeviceMemory memory = DeviceMemory.allocate(device, 64)) {
                Thread.yield();
                Copies.fill(stream, memory, 0, 64, (byte) i);
                stream.synchronize();
                Thread.yield();
                assertThat(PointerAttributes.of(memory.address()).device()).isEqualTo(device.ordinal());
            }
        }
    }

    @Test
    void synchronizeWaitsForAllWorkOfTheDevice() throws InterruptedException {
        Device device = new Device(0);
        try (Stream stream = Stream.create(device);
                DeviceMemory memory = DeviceMemory.allocate(device, 8)) {
            DeviceEmulator.holdStreams(true);
            Copies.fill(stream, memory, 0, 8, (byte) 7);
            Thread waiting = Thread.ofPlatform().start(device::synchronize);
            waiting.join(50);
            assertThat(waiting.isAlive()).isTrue();
            DeviceEmulator.holdStreams(false);
            waiting.join(60_000);
            assertThat(waiting.isAlive()).isFalse();
            assertThat(DeviceEmulator.peek(memory.address(), 8)).containsOnly(7);
        }
    }

    @Test
    void versionsAndTextsAreTheRuntimes() {
        int major = DeviceEmulator.major();
        assertThat(Cuda.runtimeMajor()).isEqualTo(major);
        assertThat(Cuda.runtimeVersion()).isEqualTo(major == 12 ? 12090 : 13050);
        assertThat(Cuda.driverVersion()).isEqualTo(Cuda.runtimeVersion());
        assertThat(Cuda.describeStatus(2)).isEqualTo("cudaErrorMemoryAllocation: out of memory");
        assertThat(Cuda.describeStatus(-77)).isEqualTo("unrecognized error code: unrecognized error code");
    }
}
