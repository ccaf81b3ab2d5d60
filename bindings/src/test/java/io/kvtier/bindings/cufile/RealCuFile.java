package io.kvtier.bindings.cufile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvtier.bindings.Availability;
import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.cufile.DriverProperties.Feature;
import io.kvtier.bindings.cufile.Transfers.State;
import io.kvtier.bindings.posix.MappedMemory;
import io.kvtier.bindings.posix.NativeFile;
import io.kvtier.bindings.posix.NativeFile.Option;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** What {@link RealCuFileTest} does with cuFile in a process of its own. */
final class RealCuFile {
    private static final int PAGE = 4096;
    private static final int SIZE = 64 * PAGE;
    private static final Duration LONG = Duration.ofSeconds(60);

    private final Path folder;

    private RealCuFile(Path folder) {
        this.folder = folder;
    }

    public static void main(String[] arguments) throws Exception {
        RealCuFile real = new RealCuFile(Path.of(arguments[1]));
        switch (arguments[0]) {
            case "driver" -> real.driver();
            case "parameters" -> real.parameters();
            case "statistics" -> real.statistics();
            case "files" -> real.files();
            case "model" -> real.model();
            case "buffers" -> real.buffers();
            case "batches" -> real.batches();
            case "closing" -> real.closing();
            case "growth" -> real.growth();
            case "refused" ->
                assertThatThrownBy(Driver::open)
                        .isInstanceOf(IllegalStateException.class)
                        .satisfies(e -> System.out.println(e.getMessage()));
            default -> throw new IllegalArgumentException(arguments[0]);
        }
        assertThat(NativeHandles.live()).isEmpty();
        System.out.println("done " + arguments[0]);
    }

    private void driver() throws IOException {
        assertThat(CuFile.availability()).isInstanceOf(Availability.Present.class);
        assertThat(CuFile.ioPath().mode()).isEqualTo(IoPath.Mode.COMPAT);
        Driver driver = Driver.open();
        DriverProperties properties = driver.properties();
        assertThat(properties.maxBatchOperations()).isEqualTo(128);
        assertThat(properties.maxDirectIoBytes()).isEqualTo(16 << 20);
        assertThat(properties.nvfsMajor()).isZero();
        assertThat(properties.storage()).isEmpty();
        assertThat(properties.allowsCompatMode()).isTrue();
        assertThat(properties.features()).contains(Feature.BATCH_IO);
        assertThat(driver.ioPath().mode()).isEqualTo(IoPath.Mode.COMPAT);
        assertThat(driver.ioPath().reasons()).contains("the driver reports no kind of storage that it serves directly");
        assertThat(driver.useCount()).isEqualTo(1);
        // Without the kernel module it takes the limit, but that stays what it was.
        driver.setMaxDirectIoSize(1 << 20);
        try (Driver second = Driver.open()) {
            assertThat(second.useCount()).isEqualTo(2);
        }
        driver.close();
        driver.close();
        assertThatThrownBy(driver::properties).hasMessage("cuFile's driver is closed");
        Path log = Path.of(
                System.getProperty("java.io.tmpdir"),
                "cufile_" + ProcessHandle.current().pid() + ".log");
        assertThat(Files.readString(log)).contains("libcuda.so.1");
    }

    private void parameters() {
        Parameters.set(Parameters.Size.MAX_BATCH_OPERATIONS, 32);
        Parameters.set(Parameters.Size.PER_BUFFER_CACHE_BYTES, 2 << 20);
        Parameters.set(Parameters.Flag.POLL_MODE, true);
        Parameters.set(Parameters.Text.LOG_LEVEL, "INFO");
        assertThat(Parameters.get(Parameters.Size.MAX_BATCH_OPERATIONS)).isEqualTo(32);
        try (Driver driver = Driver.open()) {
            assertThat(driver.properties().maxBatchOperations()).isEqualTo(32);
            assertThat(driver.properties().perBufferCacheBytes()).isEqualTo(2 << 20);
            assertThat(Parameters.get(Parameters.Flag.POLL_MODE)).isTrue();
            assertThat(Parameters.get(Parameters.Text.LOG_LEVEL)).isEqualTo("INFO");
            for (Parameters.Size size : Parameters.Size.values()) {
                assertThat(Parameters.get(size)).as(size.name()).isNotNegative();
            }
            for (Parameters.Flag flag : Parameters.Flag.values()) {
                Parameters.get(flag);
            }
            assertThatThrownBy(() -> Parameters.set(Parameters.Flag.POLL_MODE, false))
                    .isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> Batch.create(driver, 33)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    private void statistics() {
        try (Driver driver = Driver.open();
                RegisteredFile file = file(driver, "f");
                Arena arena = Arena.ofShared();
                RegisteredBuffer buffer = RegisteredBuffer.register(driver, arena.allocate(SIZE, PAGE));
                Batch batch = Batch.create(driver, 4)) {
            for (int round = 0; round < 3; round++) {
                driver.startStatistics();
                file.write(buffer, 0, SIZE, 0);
                assertThat(file.read(buffer, 0, SIZE, PAGE)).isEqualTo(SIZE - PAGE);
                batch.write(file, buffer, 0, PAGE, 0);
                batch.read(file, buffer, 0, PAGE, 0);
                batch.submit();
                assertThat(batch.await(LONG)).isTrue();
                batch.clear();
                Statistics statistics = driver.statistics();
                assertThat(statistics.writes()).isEqualTo(1);
                assertThat(statistics.writeBytes()).isEqualTo(SIZE);
                assertThat(statistics.writeTime()).isPositive();
                assertThat(statistics.reads())
                        .as("one that comes short, one that finds the end")
                        .isEqualTo(2);
                assertThat(statistics.failedReads()).isZero();
                assertThat(statistics.batchWriteBytes()).isEqualTo(PAGE);
                assertThat(statistics.batchReadBytes()).isEqualTo(PAGE);
                if (round == 1) {
                    driver.stopStatistics();
                    assertThatThrownBy(driver::statistics).isInstanceOf(IllegalStateException.class);
                }
            }
        }
        try (Driver driver = Driver.open()) {
            assertThatThrownBy(driver::statistics).isInstanceOf(IllegalStateException.class);
            driver.startStatistics();
            assertThat(driver.statistics().writes()).isZero();
        }
    }

    private void files() throws IOException {
        byte[] bytes = random(1, SIZE);
        try (Driver driver = Driver.open();
                Arena arena = Arena.ofShared();
                MappedMemory mapped = MappedMemory.anonymous(SIZE);
                RegisteredFile file = file(driver, "f");
                RegisteredBuffer buffer = RegisteredBuffer.register(driver, mapped)) {
            MemorySegment source = arena.allocate(SIZE, PAGE).copyFrom(MemorySegment.ofArray(bytes));
            MemorySegment target = arena.allocate(SIZE, PAGE);
            file.write(source, 0);
            file.write(source.asSlice(0, 100), SIZE);
            assertThat(Files.readAllBytes(folder.resolve("f")))
                    .startsWith(bytes)
                    .hasSize(SIZE + 100);
            assertThat(file.read(target, 0)).isEqualTo(SIZE);
            assertThat(target.mismatch(source)).isNegative();
            assertThat(file.read(buffer, 3, SIZE - 3, 7)).isEqualTo(SIZE - 3);
            assertThat(mapped.segment().asSlice(3, SIZE - 7).mismatch(source.asSlice(7)))
                    .isNegative();
            assertThat(file.read(buffer, 0, SIZE, SIZE)).isEqualTo(100);
            assertThat(file.read(buffer, 0, SIZE, 1L << 40)).isZero();
            assertThatThrownBy(() -> file.read(buffer, 1, SIZE, 0)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> file.read(buffer, 0, 1, -1)).isInstanceOf(IllegalArgumentException.class);
            file.write(buffer, 0, 100, SIZE + 100);
            assertThatThrownBy(mapped::close).hasMessageContaining("holders");
            others(driver, source);
        }
    }

    private void others(Driver driver, MemorySegment source) {
        Path path = folder.resolve("f");
        MemorySegment target = Arena.ofAuto().allocate(SIZE, PAGE);
        try (RegisteredFile direct = RegisteredFile.open(driver, path, Option.READ, Option.WRITE, Option.DIRECT)) {
            direct.write(source, 0);
            assertThat(direct.read(target, 0)).isEqualTo(SIZE);
            assertThat(target.mismatch(source)).isNegative();
            assertThat(direct.read(target.asSlice(0, 10), 1)).isEqualTo(10);
            assertThat(direct.read(target, SIZE))
                    .as("an end that is not aligned")
                    .isEqualTo(200);
        }
        try (RegisteredFile reading = RegisteredFile.open(driver, path);
                NativeFile plain = NativeFile.open(path, Option.WRITE);
                RegisteredFile writing = RegisteredFile.register(driver, plain)) {
            assertThatThrownBy(() -> reading.write(source, 0))
                    .isInstanceOfSatisfying(
                            CuFileException.class, e -> assertThat(e.code()).isEqualTo(5019))
                    .hasMessageContaining("CU_FILE_INVALID_FILE_OPEN_FLAG (5019): 262144 bytes at 0");
            assertThatThrownBy(() -> writing.read(target, 0)).hasMessageContaining("was the file opened for this?");
            assertThatThrownBy(() -> RegisteredFile.register(driver, plain))
                    .hasMessageContaining("CU_FILE_HANDLE_ALREADY_REGISTERED (5028)");
            assertThatThrownBy(plain::close).hasMessageContaining("holders");
            assertThatThrownBy(driver::close).hasMessageContaining("holders");
        }
        assertThatThrownBy(() -> RegisteredFile.register(driver, 1_000_000))
                .isInstanceOf(CuFileException.class)
                .hasMessageContaining("descriptor 1000000");
        assertThatThrownBy(() -> RegisteredFile.open(driver, folder)).isInstanceOf(CuFileException.class);
        RegisteredFile closed = file(driver, "g");
        closed.close();
        closed.close();
        assertThatThrownBy(() -> closed.read(target, 0)).hasMessageContaining("/g is closed");
    }

    private void model() {
        long seed = Long.getLong("kvtier.seed", System.nanoTime());
        System.out.println("RealCuFile: -Dkvtier.seed=" + seed);
        Random random = new Random(seed);
        byte[] model = new byte[0];
        try (Driver driver = Driver.open();
                Arena arena = Arena.ofShared();
                RegisteredFile file = file(driver, "f")) {
            MemorySegment memory = arena.allocate(SIZE, PAGE);
            try (RegisteredBuffer buffer = RegisteredBuffer.register(driver, memory)) {
                for (int step = 0; step < 2_000; step++) {
                    int offset = random.nextInt(SIZE);
                    int bytes = 1 + random.nextInt(SIZE - offset);
                    int position = random.nextInt(4 * SIZE);
                    if (random.nextBoolean()) {
                        byte[] data = random(random.nextLong(), bytes);
                        MemorySegment.copy(data, 0, memory, ValueLayout.JAVA_BYTE, offset, bytes);
                        file.write(buffer, offset, bytes, position);
                        model = Arrays.copyOf(model, Math.max(model.length, position + bytes));
                        System.arraycopy(data, 0, model, position, bytes);
                    } else {
                        int there = Math.clamp((long) model.length - position, 0, bytes);
                        assertThat(file.read(buffer, offset, bytes, position))
                                .as("step %d", step)
                                .isEqualTo(there);
                        int from = Math.min(position, model.length);
                        assertThat(memory.asSlice(offset, there).toArray(ValueLayout.JAVA_BYTE))
                                .as("step %d", step)
                                .isEqualTo(Arrays.copyOfRange(model, from, from + there));
                    }
                }
            }
        }
    }

    private void buffers() {
        try (Driver driver = Driver.open();
                Arena arena = Arena.ofShared();
                RegisteredFile file = file(driver, "f")) {
            MemorySegment memory = arena.allocate(SIZE, PAGE);
            RegisteredBuffer buffer = RegisteredBuffer.register(driver, memory);
            assertThatThrownBy(() -> RegisteredBuffer.register(driver, memory))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> RegisteredBuffer.register(driver, memory.asSlice(PAGE, PAGE)))
                    .isInstanceOf(IllegalArgumentException.class);
            file.write(memory.asSlice(PAGE, PAGE), 0);
            assertThatThrownBy(driver::close).hasMessageContaining("2 holders");
            buffer.close();
            buffer.close();
            assertThatThrownBy(() -> file.read(buffer, 0, 1, 0)).hasMessageContaining("is closed");
            RegisteredBuffer.register(driver, memory).close();
            assertThatThrownBy(() -> RegisteredBuffer.register(driver, MemorySegment.ofArray(new byte[1])))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    private void batches() throws IOException {
        byte[] bytes = random(1, SIZE);
        try (Driver driver = Driver.open();
                Arena arena = Arena.ofShared();
                RegisteredFile file = file(driver, "f");
                RegisteredFile readOnly = RegisteredFile.open(driver, folder.resolve("f"))) {
            MemorySegment memory = arena.allocate(SIZE, PAGE).copyFrom(MemorySegment.ofArray(bytes));
            try (RegisteredBuffer buffer = RegisteredBuffer.register(driver, memory);
                    Batch batch = Batch.create(driver, 64)) {
                for (int i = 0; i < 64; i++) {
                    batch.write(file, buffer, i * PAGE, PAGE, (63 - i) * PAGE);
                }
                batch.submit();
                assertThat(batch.await(LONG)).isTrue();
                batch.requireAll();
                batch.clear();
                memory.fill((byte) 0);
                for (int i = 0; i < 32; i++) {
                    batch.read(file, buffer, i * PAGE, PAGE, (63 - i) * PAGE);
                }
                batch.submit();
                for (int i = 32; i < 64; i++) {
                    batch.read(readOnly, buffer, i * PAGE, PAGE, (63 - i) * PAGE);
                }
                assertThat(batch.await(LONG)).isTrue();
                batch.submit();
                assertThat(batch.await(LONG)).isTrue();
                batch.requireAll();
                assertThat(memory.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(bytes);
                endsAndRefusals(file, readOnly, buffer, batch);
            }
            cancellation(driver, file, memory);
        }
        assertThat(Files.size(folder.resolve("f"))).isEqualTo(SIZE);
    }

    private static void endsAndRefusals(
            RegisteredFile file, RegisteredFile readOnly, RegisteredBuffer buffer, Batch batch) {
        batch.clear();
        batch.read(file, buffer, 0, PAGE, SIZE - 10);
        batch.read(file, buffer, PAGE, PAGE, SIZE);
        batch.submit();
        assertThat(batch.await(LONG)).isTrue();
        assertThat(batch.state(1)).isEqualTo(State.DONE);
        assertThat(batch.moved(0)).isEqualTo(10);
        assertThat(batch.moved(1)).isZero();
        assertThatThrownBy(batch::requireAll)
                .isInstanceOf(CuFileException.class)
                .hasMessageContaining("SHORT (10): operation 0, read of 4096 bytes");
        batch.clear();
        batch.write(file, buffer, 0, PAGE, 0);
        batch.write(readOnly, buffer, 0, PAGE, 0);
        assertThatThrownBy(batch::submit)
                .isInstanceOf(CuFileException.class)
                .hasMessageContaining("CU_FILE_INVALID_FILE_OPEN_FLAG (5019): 2 operations");
        assertThatThrownBy(batch::clear).hasMessageContaining("spoilt");
    }

    /** In compatibility mode all has ended before it can be canceled; what cuFile would forget then is asked for before. */
    private static void cancellation(Driver driver, RegisteredFile file, MemorySegment memory) {
        try (RegisteredBuffer buffer = RegisteredBuffer.register(driver, memory);
                Batch batch = Batch.create(driver, 4)) {
            for (int i = 0; i < 4; i++) {
                batch.write(file, buffer, 0, PAGE, i * PAGE);
            }
            batch.submit();
            batch.cancel();
            assertThat(batch.isDone()).isTrue();
            batch.requireAll();
        }
    }

    /** Threads that read while file and buffer are closed under them see either bytes or that it is closed. */
    private void closing() throws Exception {
        try (Driver driver = Driver.open();
                Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(SIZE, PAGE);
            for (int round = 0; round < 100; round++) {
                RegisteredFile file = file(driver, "f");
                RegisteredBuffer buffer = RegisteredBuffer.register(driver, memory);
                file.write(buffer, 0, SIZE, 0);
                CountDownLatch reading = new CountDownLatch(2);
                List<CompletableFuture<String>> readers = new ArrayList<>();
                for (int i = 0; i < 2; i++) {
                    readers.add(CompletableFuture.supplyAsync(() -> readUntilClosed(file, buffer, reading)));
                }
                assertThat(reading.await(60, TimeUnit.SECONDS)).isTrue();
                if (round % 2 == 0) {
                    file.close();
                    buffer.close();
                } else {
                    buffer.close();
                    file.close();
                }
                for (CompletableFuture<String> reader : readers) {
                    assertThat(reader.get(60, TimeUnit.SECONDS)).endsWith("is closed");
                }
            }
        }
    }

    private static String readUntilClosed(RegisteredFile file, RegisteredBuffer buffer, CountDownLatch reading) {
        try {
            while (true) {
                assertThat(file.read(buffer, 0, SIZE, 0)).isEqualTo(SIZE);
                reading.countDown();
            }
        } catch (IllegalStateException e) {
            return String.valueOf(e.getMessage());
        }
    }

    private void growth() throws IOException {
        try (Driver driver = Driver.open();
                Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(SIZE, PAGE);
            grow("registrations", 20_000, 20_000, () -> {
                try (RegisteredBuffer buffer = RegisteredBuffer.register(driver, memory);
                        RegisteredFile file = file(driver, "f")) {
                    file.write(buffer, 0, PAGE, 0);
                }
            });
            try (RegisteredBuffer buffer = RegisteredBuffer.register(driver, memory);
                    RegisteredFile file = file(driver, "f")) {
                grow("batches", 20, 60, () -> {
                    try (Batch batch = Batch.create(driver, 16)) {
                        for (int i = 0; i < 16; i++) {
                            batch.write(file, buffer, i * PAGE, PAGE, i * PAGE);
                        }
                        batch.submit();
                        assertThat(batch.await(LONG)).isTrue();
                    }
                });
            }
        }
    }

    private static void grow(String what, int warmUp, int count, Runnable run) throws IOException {
        for (int i = 0; i < warmUp; i++) {
            run.run();
        }
        long before = residentKibibytes();
        long start = System.nanoTime();
        for (int i = 0; i < count; i++) {
            run.run();
        }
        System.out.printf(
                "%s %d KiB more after %d, each %d us%n",
                what,
                residentKibibytes() - before,
                count,
                Duration.ofNanos(System.nanoTime() - start).dividedBy(count).toNanos() / 1_000);
    }

    private static long residentKibibytes() throws IOException {
        System.gc();
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
                .findFirst()
                .orElseThrow();
    }

    private RegisteredFile file(Driver driver, String name) {
        return RegisteredFile.open(driver, folder.resolve(name), Option.READ, Option.WRITE, Option.CREATE);
    }

    private static byte[] random(long seed, int size) {
        byte[] bytes = new byte[size];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }
}
