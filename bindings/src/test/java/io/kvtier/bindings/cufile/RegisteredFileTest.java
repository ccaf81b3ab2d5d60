package io.kvtier.bindings.cufile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvtier.bindings.cuda.DeviceMemory;
import io.kvtier.bindings.cuda.PinnedMemory;
import io.kvtier.bindings.emulator.DeviceEmulator;
import io.kvtier.bindings.posix.MappedMemory;
import io.kvtier.bindings.posix.NativeFile;
import io.kvtier.bindings.posix.NativeFile.Option;
import io.kvtier.bindings.posix.PosixException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RegisteredFileTest extends OnDevice {
    private static final int SIZE = 16 * PAGE;
    private static final int EINTR = 4;
    private static final int EIO = 5;

    @Test
    void deviceMemoryGoesToTheFileAndComesBack() throws IOException {
        byte[] bytes = random(1, SIZE);
        try (DeviceMemory memory = DeviceMemory.allocate(device, SIZE);
                RegisteredBuffer buffer = RegisteredBuffer.register(driver, memory);
                RegisteredFile file = file("f")) {
            put(memory, bytes);
            file.write(buffer, 0, SIZE, PAGE);
            put(memory, new byte[SIZE]);
            assertThat(file.read(buffer, 2 * PAGE, 3 * PAGE, 5 * PAGE)).isEqualTo(3 * PAGE);
            assertThat(bytesOf(memory, 2 * PAGE, 3 * PAGE)).isEqualTo(Arrays.copyOfRange(bytes, 4 * PAGE, 7 * PAGE));
            assertThat(bytesOf(memory, 5 * PAGE, PAGE)).containsOnly(0);
            assertThat(notes()).as("aligned, so without a bounce buffer").isEmpty();
            assertThat(file.read(buffer, 1, 10, 7)).isEqualTo(10);
            assertThat(notes()).singleElement().asString().contains("not aligned to 4096 bytes");
        }
        assertThat(Files.readAllBytes(folder.resolve("f"))).hasSize(SIZE + PAGE).endsWith(bytes);
    }

    @Test
    void everyKindOfMemoryDoesRegisteredOrNot() {
        byte[] bytes = random(2, SIZE);
        try (RegisteredFile file = file("f");
                Arena arena = Arena.ofShared();
                PinnedMemory pinned = PinnedMemory.allocate(device, SIZE);
                DeviceMemory memory = DeviceMemory.allocate(device, SIZE);
                MappedMemory mapped = MappedMemory.anonymous(SIZE)) {
            MemorySegment source = arena.allocate(SIZE, PAGE).copyFrom(MemorySegment.ofArray(bytes));
            MemorySegment target = arena.allocate(SIZE, PAGE);
            file.write(source, 0);
            assertThat(file.read(target, 0)).isEqualTo(SIZE);
            assertThat(target.mismatch(source)).isNegative();
            assertThat(file.read(pinned, 100, SIZE - 100, 0)).isEqualTo(SIZE - 100);
            assertThat(pinned.segment().asSlice(100).mismatch(source.asSlice(0, SIZE - 100)))
                    .isNegative();
            assertThat(file.read(memory, 0, SIZE, 0)).isEqualTo(SIZE);
            assertThat(bytesOf(memory, 0, SIZE)).isEqualTo(bytes);
            file.write(memory, 0, SIZE, SIZE);
            try (RegisteredBuffer one = RegisteredBuffer.register(driver, pinned);
                    RegisteredBuffer two = RegisteredBuffer.register(driver, mapped);
                    RegisteredBuffer three = RegisteredBuffer.register(driver, target)) {
                for (RegisteredBuffer buffer : new RegisteredBuffer[] {one, two, three}) {
                    assertThat(buffer.byteSize()).isEqualTo(SIZE);
                    assertThat(file.read(buffer, 0, SIZE, SIZE)).isEqualTo(SIZE);
                }
                assertThat(pinned.segment().mismatch(source)).isNegative();
                assertThat(mapped.segment().mismatch(source)).isNegative();
                assertThat(target.mismatch(source)).isNegative();
            }
        }
    }

    @Test
    void shortResultsAreNotTheEnd() throws IOException {
        byte[] bytes = random(3, SIZE);
        try (DeviceMemory memory = DeviceMemory.allocate(device, SIZE);
                RegisteredBuffer buffer = RegisteredBuffer.register(driver, memory);
                RegisteredFile file = file("f")) {
            put(memory, bytes);
            DeviceEmulator.shorten("cuFileWrite", 1, 1);
            DeviceEmulator.shorten("cuFileWrite", 2, 5000);
            DeviceEmulator.fail("cuFileWrite", 3, EINTR);
            file.write(buffer, 0, SIZE, 3);
            assertThat(DeviceEmulator.calls("cuFileWrite")).isEqualTo(4);
            assertThat(Files.readAllBytes(folder.resolve("f")))
                    .hasSize(SIZE + 3)
                    .endsWith(bytes);
            put(memory, new byte[SIZE]);
            DeviceEmulator.shorten("cuFileRead", 1, 4096);
            DeviceEmulator.fail("cuFileRead", 2, EINTR);
            DeviceEmulator.shorten("cuFileRead", 3, 7);
            assertThat(file.read(buffer, 0, SIZE, 3)).isEqualTo(SIZE);
            assertThat(DeviceEmulator.calls("cuFileRead")).isEqualTo(4);
            assertThat(bytesOf(memory, 0, SIZE)).isEqualTo(bytes);
        }
    }

    @Test
    void readsEndWithTheFile() {
        try (DeviceMemory memory = DeviceMemory.allocate(device, SIZE);
                RegisteredFile file = file("f")) {
            put(memory, random(4, SIZE));
            file.write(memory, 0, PAGE + 10, 0);
            assertThat(file.read(memory, 0, SIZE, 0)).isEqualTo(PAGE + 10);
            assertThat(file.read(memory, 0, SIZE, PAGE + 9)).isEqualTo(1);
            assertThat(file.read(memory, 0, SIZE, PAGE + 10)).isZero();
            assertThat(file.read(memory, 0, SIZE, 1L << 40)).isZero();
            assertThat(file.read(memory, SIZE, 0, 0)).isZero();
        }
    }

    @Test
    void failuresSayWhatFailed() {
        try (DeviceMemory memory = DeviceMemory.allocate(device, SIZE);
                RegisteredFile file = file("f")) {
            DeviceEmulator.shorten("cuFileWrite", 1, PAGE);
            DeviceEmulator.fail("cuFileWrite", 2, EIO);
            assertThatThrownBy(() -> file.write(memory, 0, SIZE, 8192))
                    .isInstanceOfSatisfying(
                            CuFileException.class, e -> assertThat(e.code()).isEqualTo(-1))
                    .hasMessageContainingAll(
                            "cuFileWrite failed with EIO (-1)", "61440 bytes at 12288 of the registered file", "/f");
            DeviceEmulator.fail("cuFileRead", 1, -5014);
            assertThatThrownBy(() -> file.read(memory, 0, SIZE, 0))
                    .isInstanceOfSatisfying(
                            CuFileException.class, e -> assertThat(e.code()).isEqualTo(5014))
                    .hasMessageContaining("CU_FILE_CUDA_POINTER_RANGE_ERROR (5014)");
            DeviceEmulator.fail("cuFileRead", 1, 5030);
            assertThatThrownBy(() -> file.read(memory, 0, SIZE, 0))
                    .hasMessageContaining("CU_FILE_INTERNAL_ERROR (5030)");
            DeviceEmulator.shorten("cuFileWrite", 1, 0);
            assertThatThrownBy(() -> file.write(memory, 0, SIZE, 0))
                    .hasMessageContainingAll("cuFileWrite failed with SHORT (0)", "nothing was written of 65536 bytes");
        }
    }

    @Test
    void wrongWayIsRefusedByCuFile() {
        file("f").close();
        try (DeviceMemory memory = DeviceMemory.allocate(device, SIZE);
                RegisteredFile file = RegisteredFile.open(driver, folder.resolve("f"))) {
            assertThatThrownBy(() -> file.write(memory, 0, SIZE, 0))
                    .isInstanceOfSatisfying(
                            CuFileException.class, e -> assertThat(e.code()).isEqualTo(5019))
                    .hasMessageContaining("was the file opened for this?");
        }
    }

    @Test
    void badInputIsRefusedBeforeNativeCodeSeesIt() {
        try (DeviceMemory memory = DeviceMemory.allocate(device, SIZE);
                RegisteredBuffer buffer = RegisteredBuffer.register(driver, memory);
                RegisteredFile file = file("f");
                Arena arena = Arena.ofConfined()) {
            for (long[] range : new long[][] {
                {-1, 1}, {0, -1}, {0, SIZE + 1}, {SIZE, 1}, {1, SIZE}, {Long.MAX_VALUE, 1}, {1, Long.MAX_VALUE}
            }) {
                assertThatThrownBy(() -> file.read(buffer, range[0], range[1], 0))
                        .isInstanceOf(IndexOutOfBoundsException.class)
                        .hasMessageContaining(
                                range[1] + " bytes at " + range[0] + " do not lie within the 65536 bytes");
                assertThatThrownBy(() -> file.write(memory, range[0], range[1], 0))
                        .isInstanceOf(IndexOutOfBoundsException.class);
            }
            for (long position : new long[] {-1, Long.MIN_VALUE, Long.MAX_VALUE}) {
                assertThatThrownBy(() -> file.write(buffer, 0, SIZE, position))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining("65536 bytes at " + position);
            }
            assertThatThrownBy(() -> file.read(MemorySegment.ofArray(new byte[10]), 0))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("memory on the heap: 10 bytes");
            assertThatThrownBy(() -> file.read(arena.allocate(10).asReadOnly(), 0))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("read-only");
            assertThatThrownBy(() -> file.write(closedSegment(), 0))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("is closed");
            assertThatThrownBy(() -> RegisteredFile.register(driver, -1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("not -1");
            assertThat(DeviceEmulator.calls("cuFileRead")).isZero();
            assertThat(DeviceEmulator.calls("cuFileWrite")).isZero();
            assertThat(DeviceEmulator.calls("cuFileHandleRegister")).isEqualTo(1);
        }
    }

    private static MemorySegment closedSegment() {
        try (Arena arena = Arena.ofConfined()) {
            return arena.allocate(10);
        }
    }

    @Test
    void filesThatCannotBeRegisteredLeaveNothingBehind() throws IOException {
        assertThatThrownBy(() -> RegisteredFile.open(driver, folder.resolve("absent")))
                .isInstanceOf(PosixException.class)
                .hasMessageContaining("ENOENT");
        assertThatThrownBy(() -> RegisteredFile.open(driver, folder))
                .isInstanceOf(CuFileException.class)
                .hasMessageContainingAll("CU_FILE_INVALID_FILE_TYPE", folder.toString());
        assertThatThrownBy(() -> RegisteredFile.register(driver, 1_000_000))
                .hasMessageContainingAll("CU_FILE_INVALID_VALUE", "descriptor 1000000");
        Path path = Files.createFile(folder.resolve("f"));
        DeviceEmulator.fail("cuFileHandleRegister", 1, 5008);
        assertThatThrownBy(() -> RegisteredFile.open(driver, path))
                .hasMessageContaining("CU_FILE_IO_NOT_SUPPORTED (5008)");
        try (NativeFile file = NativeFile.open(path, Option.READ)) {
            try (RegisteredFile _ = RegisteredFile.register(driver, file)) {
                assertThatThrownBy(() -> RegisteredFile.register(driver, file))
                        .hasMessageContaining("CU_FILE_HANDLE_ALREADY_REGISTERED");
                assertThatThrownBy(file::close).hasMessageContaining("1 holders");
            }
            RegisteredFile.register(driver, file.descriptor()).close();
            file.read(Arena.ofAuto().allocate(1), 0);
        }
    }

    @Test
    void closedFilesAreOfNoUseAndCloseAgain() {
        RegisteredFile file = file("f");
        assertThat(file.isClosed()).isFalse();
        assertThatThrownBy(driver::close).hasMessageContaining("1 holders");
        file.close();
        file.close();
        assertThat(file.isClosed()).isTrue();
        try (DeviceMemory memory = DeviceMemory.allocate(device, SIZE)) {
            assertThatThrownBy(() -> file.read(memory, 0, 1, 0))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("/f is closed");
        }
        assertThat(DeviceEmulator.calls("cuFileHandleDeregister")).isEqualTo(1);
        assertThat(DeviceEmulator.calls("cuFileRead")).isZero();
    }

    @Test
    void closedDriverTakesNothing() {
        driver.close();
        driver.close();
        try (DeviceMemory memory = DeviceMemory.allocate(device, SIZE)) {
            assertThatThrownBy(() -> file("f")).hasMessage("cuFile's driver is closed");
            assertThatThrownBy(() -> RegisteredBuffer.register(driver, memory)).hasMessage("cuFile's driver is closed");
            assertThatThrownBy(driver::properties).hasMessage("cuFile's driver is closed");
            assertThat(DeviceEmulator.calls("cuFileHandleRegister")).isZero();
            assertThat(DeviceEmulator.calls("cuFileBufRegister")).isZero();
        }
    }

    @Test
    void closingWaitsForAReadOfAnotherThread() throws Exception {
        try (DeviceMemory memory = DeviceMemory.allocate(device, SIZE)) {
            RegisteredBuffer buffer = RegisteredBuffer.register(driver, memory);
            RegisteredFile file = file("f");
            DeviceEmulator.stall("cuFileRead", 1);
            CompletableFuture<Long> read = CompletableFuture.supplyAsync(() -> file.read(buffer, 0, SIZE, 0));
            awaitStalled();
            CompletableFuture<Void> closed =
                    CompletableFuture.runAsync(file::close).thenRun(buffer::close);
            assertThatThrownBy(() -> closed.get(200, TimeUnit.MILLISECONDS))
                    .isInstanceOf(java.util.concurrent.TimeoutException.class);
            assertThat(DeviceEmulator.calls("cuFileHandleDeregister")).isZero();
            DeviceEmulator.release();
            assertThat(read.get(60, TimeUnit.SECONDS)).isZero();
            closed.get(60, TimeUnit.SECONDS);
        }
    }

    /** Random reads and writes of random kinds of memory, some of them cut short, do what the same on an array does. */
    @Test
    void fileIsAnArrayOfBytes() {
        long seed = Long.getLong("kvtier.seed", System.nanoTime());
        System.out.println("RegisteredFileTest: -Dkvtier.seed=" + seed);
        Random random = new Random(seed);
        byte[] model = new byte[0];
        try (DeviceMemory registered = DeviceMemory.allocate(device, SIZE);
                DeviceMemory plain = DeviceMemory.allocate(device, SIZE);
                RegisteredBuffer buffer = RegisteredBuffer.register(driver, registered);
                RegisteredFile file = file("f")) {
            for (int step = 0; step < 2_000; step++) {
                boolean usesBuffer = random.nextBoolean();
                DeviceMemory memory = usesBuffer ? registered : plain;
                int offset = random.nextInt(SIZE);
                int bytes = random.nextInt(SIZE - offset + 1);
                int position = random.nextInt(4 * SIZE);
                if (random.nextBoolean()) {
                    byte[] data = random(random.nextLong(), SIZE);
                    put(memory, data);
                    cutShort("cuFileWrite", random, bytes);
                    if (usesBuffer) {
                        file.write(buffer, offset, bytes, position);
                    } else {
                        file.write(memory, offset, bytes, position);
                    }
                    if (bytes > 0) {
                        model = Arrays.copyOf(model, Math.max(model.length, position + bytes));
                    }
                    System.arraycopy(data, offset, model, Math.min(position, model.length), bytes);
                } else {
                    int there = Math.clamp((long) model.length - position, 0, bytes);
                    cutShort("cuFileRead", random, there);
                    long read = usesBuffer
                            ? file.read(buffer, offset, bytes, position)
                            : file.read(memory, offset, bytes, position);
                    assertThat(read).as("step %d", step).isEqualTo(there);
                    int from = Math.min(position, model.length);
                    assertThat(bytesOf(memory, offset, there))
                            .as("step %d", step)
                            .isEqualTo(Arrays.copyOfRange(model, from, from + there));
                }
            }
        }
    }

    private static void cutShort(String function, Random random, int bytes) {
        if (bytes > 1 && random.nextInt(3) == 0) {
            DeviceEmulator.shorten(function, 1, 1 + random.nextInt(bytes - 1));
        }
    }

    @Test
    void unregisteredHostMemoryOfAnotherThreadIsRefused() throws Exception {
        try (RegisteredFile file = file("f");
                Arena arena = Arena.ofConfined()) {
            MemorySegment mine = arena.allocate(ValueLayout.JAVA_LONG);
            assertThatThrownBy(() -> CompletableFuture.runAsync(() -> file.write(mine, 0))
                            .get(60, TimeUnit.SECONDS))
                    .hasCauseInstanceOf(WrongThreadException.class);
            file.write(mine, 0);
        }
    }
}
