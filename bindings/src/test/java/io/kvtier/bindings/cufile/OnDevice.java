package io.kvtier.bindings.cufile;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.cuda.Device;
import io.kvtier.bindings.cuda.DeviceMemory;
import io.kvtier.bindings.emulator.DeviceEmulator;
import io.kvtier.bindings.posix.NativeFile.Option;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Tests with an emulated device and an open driver; they must leave nothing behind. */
@Tag("emulator")
@ExtendWith(DeviceEmulator.class)
abstract class OnDevice {
    static final int PAGE = 4096;

    @TempDir
    Path folder;

    Device device;
    Driver driver;

    @BeforeEach
    void openDriver() {
        // The emulator's driver opens at once, whatever the kernel has.
        System.setProperty("kvtier.cufile.probeSeconds", "0");
        device = Device.of(0);
        driver = Driver.open();
    }

    @AfterEach
    void nothingIsLeft() {
        driver.close();
        assertThat(NativeHandles.live()).isEmpty();
    }

    RegisteredFile file(String name) {
        return RegisteredFile.open(driver, folder.resolve(name), Option.READ, Option.WRITE, Option.CREATE);
    }

    static byte[] random(long seed, int size) {
        byte[] bytes = new byte[size];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }

    static byte[] bytesOf(DeviceMemory memory, long offset, int size) {
        return DeviceEmulator.peek(memory.address() + offset, size);
    }

    static void put(DeviceMemory memory, byte[] bytes) {
        DeviceEmulator.poke(memory.address(), bytes);
    }

    /** Returns what the emulator thinks worth knowing although it is allowed. */
    static List<String> notes() {
        return DeviceEmulator.report().stream()
                .filter(line -> line.startsWith("note: "))
                .toList();
    }

    /** Waits until a planned stall has come. */
    static void awaitStalled() {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (DeviceEmulator.stalled() == 0) {
            assertThat(System.nanoTime()).isLessThan(deadline);
            Thread.onSpinWait();
        }
    }
}
