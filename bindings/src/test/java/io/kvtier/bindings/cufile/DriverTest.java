package io.kvtier.bindings.cufile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvtier.bindings.cuda.DeviceMemory;
import io.kvtier.bindings.cufile.DriverProperties.Feature;
import io.kvtier.bindings.cufile.DriverProperties.Storage;
import io.kvtier.bindings.emulator.DeviceEmulator;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DriverTest extends OnDevice {
    private static final long KIB = 1024;

    /** Parameters stay for the next driver of the process. */
    @AfterEach
    void defaultParameters() {
        driver.close();
        Parameters.set(Parameters.Size.MAX_BATCH_OPERATIONS, 128);
        Parameters.set(Parameters.Size.MAX_DIRECT_IO_BYTES, 16 << 20);
        Parameters.set(Parameters.Size.MAX_DEVICE_CACHE_BYTES, 128 << 20);
        Parameters.set(Parameters.Size.MAX_PINNED_BYTES, 32L << 30);
        Parameters.set(Parameters.Size.POLL_THRESHOLD_BYTES, 4 * KIB);
        Parameters.set(Parameters.Flag.POLL_MODE, false);
        Parameters.set(Parameters.Flag.ALLOW_COMPAT_MODE, true);
        Parameters.set(Parameters.Flag.FORCE_COMPAT_MODE, false);
        Parameters.set(Parameters.Text.LOG_FOLDER, "");
    }

    @Test
    void openDriverTellsWhatItIs() {
        DriverProperties properties = driver.properties();
        assertThat(properties.nvfsMajor()).isEqualTo(2);
        assertThat(properties.storage()).containsExactly(Storage.NVME);
        assertThat(properties.features()).containsExactlyInAnyOrder(Feature.values());
        assertThat(properties.allowsCompatMode()).isTrue();
        assertThat(properties.pollMode()).isFalse();
        assertThat(properties.maxBatchOperations()).isEqualTo(128);
        assertThat(properties.maxDirectIoBytes()).isEqualTo(16 << 20);
        assertThat(properties.maxPinnedBytes()).isEqualTo(32L << 30);
        assertThat(properties.batchTimeout()).isEqualTo(Duration.ofMillis(5));
    }

    @Test
    void driversAreCounted() {
        assertThat(driver.useCount()).isEqualTo(1);
        try (Driver second = Driver.open()) {
            assertThat(second.useCount()).isEqualTo(2);
            driver.close();
            assertThat(second.useCount()).isEqualTo(1);
            assertThatThrownBy(driver::useCount).hasMessage("cuFile's driver is closed");
        }
        assertThat(DeviceEmulator.calls("cuFileDriverClose_v2")).isEqualTo(2);
    }

    @Test
    void limitsCanBeChangedWhileItIsOpen() {
        driver.setMaxDirectIoSize(1 << 20);
        driver.setMaxCacheSize(64 << 20);
        driver.setMaxPinnedMemory(1L << 30);
        driver.setPollMode(true, 64 * KIB);
        DriverProperties properties = driver.properties();
        assertThat(properties.maxDirectIoBytes()).isEqualTo(1 << 20);
        assertThat(properties.maxDeviceCacheBytes()).isEqualTo(64 << 20);
        assertThat(properties.maxPinnedBytes()).isEqualTo(1L << 30);
        assertThat(properties.pollThresholdBytes()).isEqualTo(64 * KIB);
        assertThat(properties.pollMode()).isTrue();
        for (long bad : new long[] {-1024, 1, 1023, Long.MIN_VALUE}) {
            assertThatThrownBy(() -> driver.setMaxCacheSize(bad))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("not " + bad);
        }
        assertThatThrownBy(() -> driver.setMaxDirectIoSize(3 * KIB))
                .isInstanceOf(CuFileException.class)
                .hasMessageContainingAll("CU_FILE_INVALID_VALUE", "3072 bytes");
    }

    @Test
    void compatibilityModeIsSeen() {
        driver.close();
        DeviceEmulator.compat(true);
        driver = Driver.open();
        IoPath path = driver.ioPath();
        assertThat(path.mode()).isEqualTo(IoPath.Mode.COMPAT);
        assertThat(path.reasons()).contains("the driver reports no kind of storage that it serves directly");
        driver.close();
        Parameters.set(Parameters.Flag.ALLOW_COMPAT_MODE, false);
        assertThatThrownBy(Driver::open)
                .isInstanceOf(CuFileException.class)
                .hasMessageContainingAll("cuFileDriverOpen failed with CU_FILE_NVFS_SETUP_ERROR", "libcuda.so.1");
    }

    @Test
    void closingWaitsForACallAndTellsOfErrors() throws Exception {
        DeviceEmulator.stall("cuFileDriverGetProperties", 1);
        CompletableFuture<DriverProperties> call = CompletableFuture.supplyAsync(driver::properties);
        awaitStalled();
        CompletableFuture<Void> close = CompletableFuture.runAsync(driver::close);
        assertThatThrownBy(() -> close.get(100, TimeUnit.MILLISECONDS))
                .isInstanceOf(java.util.concurrent.TimeoutException.class);
        DeviceEmulator.release();
        assertThat(call.get(60, TimeUnit.SECONDS).maxBatchOperations()).isEqualTo(128);
        close.get(60, TimeUnit.SECONDS);
        Driver second = Driver.open();
        DeviceEmulator.fail("cuFileDriverClose_v2", 1, 5030);
        assertThatThrownBy(second::close).hasMessageContaining("cuFileDriverClose failed with CU_FILE_INTERNAL_ERROR");
        second.close();
    }

    @Test
    void parametersAreSetBeforeTheDriverOpens() {
        assertThatThrownBy(() -> Parameters.set(Parameters.Flag.POLL_MODE, true))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("set parameters before that");
        assertThat(Parameters.get(Parameters.Size.MAX_BATCH_OPERATIONS)).isEqualTo(128);
        driver.close();
        Parameters.set(Parameters.Size.MAX_BATCH_OPERATIONS, 16);
        Parameters.set(Parameters.Size.MAX_DIRECT_IO_BYTES, 2 << 20);
        Parameters.set(Parameters.Flag.POLL_MODE, true);
        Parameters.set(Parameters.Text.LOG_FOLDER, folder.toString());
        assertThat(Parameters.get(Parameters.Text.LOG_FOLDER)).isEqualTo(folder.toString());
        driver = Driver.open();
        assertThat(Parameters.get(Parameters.Size.MAX_DIRECT_IO_BYTES)).isEqualTo(2 << 20);
        assertThat(Parameters.get(Parameters.Flag.POLL_MODE)).isTrue();
        assertThat(Parameters.get(Parameters.Text.LOG_LEVEL)).isEmpty();
        assertThat(driver.properties().maxBatchOperations()).isEqualTo(16);
        assertThatThrownBy(() -> Batch.create(driver, 17)).hasMessageContaining("from 1 to 16 operations, not 17");
        driver.close();
        Parameters.set(Parameters.Size.MAX_BATCH_OPERATIONS, 257);
        assertThatThrownBy(Driver::open).hasMessageContaining("CU_FILE_DRIVER_INVALID_PROPS");
    }

    @Test
    void badParametersAreRefusedBeforeNativeCodeSeesThem() {
        driver.close();
        for (long bad : new long[] {-1, -1024, 1, 1023}) {
            assertThatThrownBy(() -> Parameters.set(Parameters.Size.MAX_PINNED_BYTES, bad))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("MAX_PINNED_BYTES must be a multiple of 1024 from 0, not " + bad);
        }
        assertThatThrownBy(() -> Parameters.set(Parameters.Text.LOG_FOLDER, "/tmp\0/x"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("must not have a NUL");
        assertThatThrownBy(() -> Parameters.set(Parameters.Text.LOG_FOLDER, "x".repeat(4096)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("may have 4095 bytes, not 4096");
        assertThat(DeviceEmulator.calls("cuFileSetParameterSizeT")).isZero();
        assertThat(DeviceEmulator.calls("cuFileSetParameterString")).isZero();
    }

    @Test
    void statisticsCountWhatWasDone() {
        if (DeviceEmulator.major() == 12) {
            assertThatThrownBy(driver::startStatistics)
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageMatching("cuFile 1\\.14 \\(.*\\) has no cuFileGetStatsL1; cuFile 1\\.20 has it");
            driver.stopStatistics();
            return;
        }
        try (DeviceMemory memory = DeviceMemory.allocate(device, PAGE);
                RegisteredBuffer buffer = RegisteredBuffer.register(driver, memory);
                RegisteredFile file = file("f");
                Batch batch = Batch.create(driver, 4)) {
            assertThatThrownBy(driver::statistics)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("startStatistics");
            driver.startStatistics();
            file.write(buffer, 0, PAGE, 0);
            file.read(buffer, 0, 100, 0);
            batch.write(file, buffer, 0, 512, 0);
            batch.submit();
            assertThat(batch.await(Duration.ofSeconds(60))).isTrue();
            Statistics statistics = driver.statistics();
            assertThat(statistics.writes()).isEqualTo(1);
            assertThat(statistics.reads()).isEqualTo(1);
            assertThat(statistics.writeBytes()).isEqualTo(PAGE);
            assertThat(statistics.readBytes()).isEqualTo(100);
            assertThat(statistics.batchWriteBytes()).isEqualTo(512);
            assertThat(statistics.readTime()).isPositive();
            driver.startStatistics();
            assertThat(driver.statistics().writes()).isZero();
            driver.stopStatistics();
            driver.stopStatistics();
            assertThatThrownBy(driver::statistics).isInstanceOf(IllegalStateException.class);
            driver.startStatistics();
            assertThat(driver.statistics().writes()).isZero();
        }
        driver.close();
        driver = Driver.open();
        assertThatThrownBy(driver::statistics)
                .as("ended with the last driver")
                .isInstanceOf(IllegalStateException.class);
        driver.startStatistics();
        driver.statistics();
    }
}
