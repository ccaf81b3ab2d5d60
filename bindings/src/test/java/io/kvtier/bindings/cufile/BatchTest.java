package io.kvtier.bindings.cufile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.cuda.DeviceMemory;
import io.kvtier.bindings.cufile.Transfers.State;
import io.kvtier.bindings.emulator.DeviceEmulator;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class BatchTest extends OnDevice {
    private static final int SIZE = 64 * PAGE;
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration SHORT = Duration.ofMillis(100);
    private static final String OPERATION = "cuFileBatchIOSubmit@operation";

    private DeviceMemory memory;
    private RegisteredBuffer buffer;
    private RegisteredFile file;

    @BeforeEach
    void open() {
        memory = DeviceMemory.allocate(device, SIZE);
        buffer = RegisteredBuffer.register(driver, memory);
        file = file("f");
    }

    @AfterEach
    void close() {
        file.close();
        buffer.close();
        memory.close();
    }

    @Test
    void manyOperationsAreMadeByOneCall() throws IOException {
        byte[] bytes = random(1, SIZE);
        put(memory, bytes);
        try (Batch batch = Batch.create(driver, 64)) {
            for (int i = 0; i < 64; i++) {
                assertThat(batch.write(file, buffer, i * PAGE, PAGE, (63 - i) * PAGE))
                        .isEqualTo(i);
                assertThat(batch.state(i)).isEqualTo(State.PREPARED);
            }
            assertThat(batch.size()).isEqualTo(64);
            batch.submit();
            assertThat(batch.await(LONG)).isTrue();
            batch.requireAll();
            assertThat(DeviceEmulator.calls("cuFileBatchIOSubmit")).isEqualTo(1);
            put(memory, new byte[SIZE]);
            batch.clear();
            for (int i = 0; i < 63; i++) {
                batch.read(file, buffer, i * PAGE, PAGE, (63 - i) * PAGE);
            }
            batch.submit();
            assertThat(batch.await(LONG)).isTrue();
            batch.requireAll();
            assertThat(batch.state(62)).isEqualTo(State.DONE);
            assertThat(batch.moved(62)).isEqualTo(PAGE);
            assertThat(batch.failure(62)).isEmpty();
        }
        assertThat(bytesOf(memory, 0, 63 * PAGE)).isEqualTo(Arrays.copyOf(bytes, 63 * PAGE));
        assertThat(bytesOf(memory, 63 * PAGE, PAGE)).containsOnly(0);
        assertThat(Files.size(folder.resolve("f"))).isEqualTo(SIZE);
    }

    @Test
    void eachFailureIsNamed() {
        try (Batch batch = Batch.create(driver, 8)) {
            for (int i = 0; i < 5; i++) {
                batch.write(file, buffer, i * PAGE, PAGE, i * PAGE);
            }
            DeviceEmulator.fail(OPERATION, 2, -5044);
            DeviceEmulator.shorten(OPERATION, 3, 512);
            DeviceEmulator.fail(OPERATION, 5, 28);
            batch.submit();
            assertThat(batch.await(LONG)).isTrue();
            assertThat(batch.state(0)).isEqualTo(State.DONE);
            assertThat(batch.state(1)).isEqualTo(State.FAILED);
            assertThat(batch.moved(1)).isZero();
            assertThat(batch.moved(2)).isEqualTo(512);
            assertThat(batch.failure(0)).isEmpty();
            assertThat(batch.failure(4))
                    .get()
                    .extracting(CuFileException::codeName)
                    .isEqualTo("ENOSPC");
            assertThatThrownBy(batch::requireAll)
                    .isInstanceOfSatisfying(CuFileException.class, e -> {
                        assertThat(e.code()).isEqualTo(5044);
                        assertThat(e.getSuppressed()).hasSize(2);
                        assertThat(e.getSuppressed()[0])
                                .hasMessageContainingAll("SHORT (512)", "operation 2", "which moved 512 bytes");
                        assertThat(e.getSuppressed()[1]).hasMessageContainingAll("ENOSPC (-1)", "operation 4");
                    })
                    .hasMessageContainingAll(
                            "cuFileBatchIOSubmit failed with CU_FILE_IO_ERROR (5044)",
                            "operation 1, write of 4096 bytes at 4096 of the registered file",
                            "/f from offset 4096 of the registered buffer of 262144 bytes");
            batch.clear();
            batch.read(file, buffer, 0, SIZE, 0);
            batch.submit();
            assertThat(batch.await(LONG)).isTrue();
            assertThat(batch.moved(0)).as("the file ends before").isEqualTo(4 * PAGE);
            assertThatThrownBy(batch::requireAll).hasMessageContaining("SHORT (16384)");
        }
    }

    @Test
    void waitingIsBoundedAndWhatIsInFlightStaysOpen() {
        try (Batch batch = Batch.create(driver, 4);
                Batch other = Batch.create(driver, 4)) {
            DeviceEmulator.stall(OPERATION, 1);
            batch.write(file, buffer, 0, PAGE, 0);
            batch.submit();
            awaitStalled();
            long start = System.nanoTime();
            assertThat(batch.await(SHORT)).isFalse();
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(SHORT, LONG);
            assertThat(batch.state(0)).isEqualTo(State.IN_FLIGHT);
            assertThatThrownBy(file::close).hasMessageContaining("1 holders");
            assertThatThrownBy(buffer::close).hasMessageContaining("1 holders");
            assertThatThrownBy(driver::close).hasMessageContaining("4 holders");
            assertThatThrownBy(batch::clear)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("1 operations in flight");
            assertThatThrownBy(batch::requireAll).hasMessageContaining("1 have not ended and 0 were not submitted");
            batch.write(file, buffer, 0, PAGE, PAGE);
            assertThatThrownBy(batch::submit)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("use another batch");
            other.read(file, buffer, 0, 10, 0);
            other.clear();
            Thread.currentThread().interrupt();
            assertThat(batch.await(LONG)).isFalse();
            assertThat(Thread.interrupted()).isTrue();
            DeviceEmulator.release();
            assertThat(batch.await(LONG)).isTrue();
            assertThat(batch.state(0)).isEqualTo(State.DONE);
            assertThat(batch.state(1)).isEqualTo(State.PREPARED);
            assertThatThrownBy(batch::requireAll).hasMessageContaining("0 have not ended and 1 were not submitted");
            batch.submit();
            assertThat(batch.await(LONG)).isTrue();
            batch.requireAll();
        }
    }

    @Test
    void closingWithWorkInFlightIsRefusedAfterTenSeconds() {
        Batch batch = Batch.create(driver, 4);
        DeviceEmulator.stall(OPERATION, 1);
        batch.write(file, buffer, 0, PAGE, 0);
        batch.submit();
        awaitStalled();
        Thread.currentThread().interrupt();
        long start = System.nanoTime();
        assertThatThrownBy(batch::close)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("still has operations in flight after 10 seconds; it stays open");
        assertThat(Thread.interrupted()).isTrue();
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(Duration.ofSeconds(9), LONG);
        assertThat(DeviceEmulator.calls("cuFileBatchIODestroy")).isZero();
        assertThatThrownBy(buffer::close).hasMessageContaining("1 holders");
        DeviceEmulator.release();
        batch.close();
        batch.close();
        assertThat(DeviceEmulator.calls("cuFileBatchIODestroy")).isEqualTo(1);
    }

    @Test
    void canceledOperationsAreNamedAndLetGo() {
        try (Batch batch = Batch.create(driver, 4)) {
            batch.cancel();
            DeviceEmulator.holdStreams(true);
            batch.write(file, buffer, 0, PAGE, 0);
            batch.write(file, buffer, 0, PAGE, PAGE);
            batch.submit();
            batch.cancel();
            assertThat(batch.await(LONG)).isTrue();
            assertThat(batch.state(0)).isEqualTo(State.CANCELED);
            assertThat(batch.state(1)).isEqualTo(State.CANCELED);
            assertThatThrownBy(batch::requireAll)
                    .isInstanceOf(CuFileException.class)
                    .hasMessageContainingAll("CUFILE_CANCELED", "operation 0");
            DeviceEmulator.holdStreams(false);
            batch.clear();
            DeviceEmulator.fail("cuFileBatchIOCancel", 1, 5042);
            DeviceEmulator.stall(OPERATION, 1);
            batch.write(file, buffer, 0, PAGE, 0);
            batch.submit();
            awaitStalled();
            assertThatThrownBy(batch::cancel).hasMessageContaining("cuFileBatchIOCancel failed with");
            DeviceEmulator.release();
        }
    }

    @Test
    void whatBeganBeforeTheCancellationGoesOn() {
        try (Batch batch = Batch.create(driver, 4)) {
            DeviceEmulator.stall(OPERATION, 1);
            batch.write(file, buffer, 0, PAGE, 0);
            batch.write(file, buffer, 0, PAGE, PAGE);
            batch.submit();
            awaitStalled();
            batch.cancel();
            assertThat(batch.await(SHORT)).isFalse();
            assertThat(batch.state(0)).isEqualTo(State.IN_FLIGHT);
            assertThat(batch.state(1)).isEqualTo(State.CANCELED);
            DeviceEmulator.release();
            assertThat(batch.await(LONG)).isTrue();
            assertThat(batch.state(0)).isEqualTo(State.DONE);
        }
    }

    @Test
    void aPollThatFailsLosesNothing() {
        try (Batch batch = Batch.create(driver, 4)) {
            batch.write(file, buffer, 0, PAGE, 0);
            batch.submit();
            DeviceEmulator.fail("cuFileBatchIOGetStatus", 1, 5030);
            assertThatThrownBy(() -> batch.await(LONG))
                    .isInstanceOf(CuFileException.class)
                    .hasMessageContaining("cuFileBatchIOGetStatus failed with CU_FILE_INTERNAL_ERROR");
            DeviceEmulator.fail("cuFileBatchIOGetStatus", 1, 5030);
            assertThatThrownBy(batch::close).isInstanceOf(CuFileException.class);
            assertThat(batch.state(0)).isEqualTo(State.IN_FLIGHT);
            assertThat(batch.await(LONG)).isTrue();
            batch.requireAll();
        }
    }

    @Test
    void aRefusedSubmissionSpoilsTheBatch() {
        Batch batch = Batch.create(driver, 4);
        batch.write(file, buffer, 0, PAGE, 0);
        batch.write(file, buffer, PAGE, PAGE, PAGE);
        DeviceEmulator.fail("cuFileBatchIOSubmit", 1, 5011);
        assertThatThrownBy(batch::submit)
                .isInstanceOfSatisfying(
                        CuFileException.class, e -> assertThat(e.cudaCode()).isEqualTo(700))
                .hasMessageContainingAll("CU_FILE_CUDA_DRIVER_ERROR", "2 operations, the first is a write of", "close");
        assertThat(batch.state(1)).isEqualTo(State.FAILED);
        assertThat(batch.failure(1)).get().extracting(CuFileException::code).isEqualTo(5011L);
        assertThat(batch.isDone()).isTrue();
        assertThatThrownBy(batch::clear).hasMessageContaining("spoilt");
        batch.write(file, buffer, 0, PAGE, 0);
        assertThatThrownBy(batch::submit).hasMessageContaining("spoilt");
        assertThatThrownBy(file::close).as("until the batch is destroyed").hasMessageContaining("holders");
        batch.close();
    }

    @Test
    void wrongWayIsRefusedWithTheFirstOperation() {
        try (RegisteredFile readOnly = RegisteredFile.open(driver, folder.resolve("f"));
                Batch batch = Batch.create(driver, 4)) {
            batch.write(readOnly, buffer, 0, PAGE, 0);
            assertThatThrownBy(batch::submit)
                    .hasMessageContainingAll("CU_FILE_INVALID_FILE_OPEN_FLAG", "write of 4096");
        }
    }

    @Test
    void badInputIsRefusedBeforeNativeCodeSeesIt() {
        int most = driver.properties().maxBatchOperations();
        for (int capacity : new int[] {0, -1, most + 1, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
            assertThatThrownBy(() -> Batch.create(driver, capacity))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("from 1 to " + most + " operations, not " + capacity);
        }
        assertThat(DeviceEmulator.calls("cuFileBatchIOSetUp")).isZero();
        try (Batch batch = Batch.create(driver, 2)) {
            batch.submit();
            assertThat(batch.isDone()).isTrue();
            assertThatThrownBy(() -> batch.read(file, buffer, SIZE, 1, 0))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> batch.read(file, buffer, -1, 1, 0)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> batch.write(file, buffer, 0, 1, -1)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> batch.write(file, buffer, 0, 0, 0))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("1 byte at least");
            assertThatThrownBy(() -> batch.state(0))
                    .isInstanceOf(IndexOutOfBoundsException.class)
                    .hasMessageContaining("has 0 operations");
            batch.read(file, buffer, 0, 1, 0);
            batch.read(file, buffer, 0, 1, 0);
            assertThatThrownBy(() -> batch.read(file, buffer, 0, 1, 0))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("is full with 2 operations");
            assertThat(batch.capacity()).isEqualTo(2);
            assertThat(DeviceEmulator.calls("cuFileBatchIOSubmit")).isZero();
        }
    }

    @Test
    void closedThingsAreRefused() {
        RegisteredFile closedFile = file("g");
        closedFile.close();
        DeviceMemory more = DeviceMemory.allocate(device, PAGE);
        RegisteredBuffer closedBuffer = RegisteredBuffer.register(driver, more);
        closedBuffer.close();
        more.close();
        Batch batch = Batch.create(driver, 2);
        assertThatThrownBy(() -> batch.read(closedFile, buffer, 0, 1, 0)).hasMessageContaining("/g is closed");
        assertThatThrownBy(() -> batch.read(file, closedBuffer, 0, 1, 0)).hasMessageContaining("is closed");
        assertThat(batch.size()).isZero();
        batch.close();
        assertThatThrownBy(() -> batch.read(file, buffer, 0, 1, 0))
                .hasMessageContaining("batch of 2 operations is closed");
        assertThatThrownBy(batch::submit).hasMessageContaining("is closed");
        assertThatThrownBy(batch::isDone).hasMessageContaining("is closed");
        assertThatThrownBy(batch::cancel).hasMessageContaining("is closed");
    }

    @Test
    void aBatchThatCannotBeMadeLeavesNothingBehind() {
        DeviceEmulator.fail("cuFileBatchIOSetUp", 1, 5039);
        assertThatThrownBy(() -> Batch.create(driver, 2))
                .isInstanceOf(CuFileException.class)
                .hasMessageContaining("2 operations");
        assertThat(NativeHandles.live()).doesNotContainKey("cufile.batch");
        driver.properties();
    }

    /** A poll, a cancellation and a close that come from other threads find the batch as it should be. */
    @Test
    void batchesAreForAllThreads() throws Exception {
        for (int round = 0; round < 100; round++) {
            Batch batch = Batch.create(driver, 16);
            for (int i = 0; i < 16; i++) {
                batch.write(file, buffer, i * PAGE, PAGE, i * PAGE);
            }
            CompletableFuture<Boolean> waiter = CompletableFuture.supplyAsync(() -> {
                try {
                    return batch.await(LONG);
                } catch (IllegalStateException e) {
                    return e.getMessage().endsWith("is closed");
                }
            });
            batch.submit();
            CompletableFuture<Void> canceler = CompletableFuture.runAsync(() -> {
                try {
                    batch.cancel();
                } catch (IllegalStateException e) {
                    assertThat(e).hasMessageContaining("is closed");
                }
            });
            batch.close();
            assertThat(waiter.get(60, TimeUnit.SECONDS)).isTrue();
            canceler.get(60, TimeUnit.SECONDS);
        }
    }

    /** Random groups, some operations failing or short, do what the same on arrays does. */
    @Test
    void groupsDoWhatTheSameOnArraysDoes() {
        long seed = Long.getLong("kvtier.seed", System.nanoTime());
        System.out.println("BatchTest: -Dkvtier.seed=" + seed);
        Random random = new Random(seed);
        byte[] model = random(seed, SIZE);
        put(memory, model);
        file.write(buffer, 0, SIZE, 0);
        try (Batch batch = Batch.create(driver, 16)) {
            for (int round = 0; round < 400; round++) {
                group(batch, model, random, round);
            }
        }
        assertThat(file.read(buffer, 0, SIZE, 0)).isEqualTo(SIZE);
        assertThat(bytesOf(memory, 0, SIZE)).isEqualTo(model);
    }

    /** A file of 16 parts; each operation of a group has a part of its own. */
    private void group(Batch batch, byte[] model, Random random, int round) {
        int part = SIZE / 16;
        byte[] data = random(random.nextLong(), SIZE);
        put(memory, data);
        int count = 1 + random.nextInt(16);
        int failing = random.nextInt(2 * count);
        int cut = random.nextInt(2 * count);
        int keeps = random.nextInt(part);
        boolean write = random.nextBoolean();
        for (int i = 0; i < count; i++) {
            if (write) {
                batch.write(file, buffer, i * part, part, i * part);
            } else {
                batch.read(file, buffer, i * part, part, i * part);
            }
        }
        if (failing < count) {
            DeviceEmulator.fail(OPERATION, failing + 1, -5044);
        }
        if (cut < count && cut != failing) {
            DeviceEmulator.shorten(OPERATION, cut + 1, keeps);
        }
        batch.submit();
        assertThat(batch.await(LONG)).isTrue();
        for (int i = 0; i < count; i++) {
            boolean fails = i == failing;
            int moved = fails ? 0 : i == cut ? keeps : part;
            assertThat(batch.state(i)).as("round %d", round).isEqualTo(fails ? State.FAILED : State.DONE);
            assertThat(batch.moved(i)).isEqualTo(moved);
            assertThat(batch.failure(i).isEmpty()).isEqualTo(moved == part);
            if (write) {
                System.arraycopy(data, i * part, model, i * part, moved);
            } else {
                System.arraycopy(model, i * part, data, i * part, moved);
            }
        }
        assertThat(bytesOf(memory, 0, SIZE)).as("round %d", round).isEqualTo(data);
        batch.clear();
    }
}
