package io.kvtier.bindings.nixl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kvtier.bindings.FetchedNatives;
import io.kvtier.bindings.NativeHandles;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** I/O of the real POSIX plugin that fails, on both queues: an exception each, and the agent's next transfer works. */
@ExtendWith(FetchedNatives.class)
class NixlFailuresTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final int BYTES = 1 << 20;
    private static final int UNUSED_FILE_DESCRIPTOR = 9_999;

    @TempDir
    Path folder;

    private Arena arena;
    private Agent agent;
    private MemorySegment memory;

    @BeforeEach
    void create() {
        arena = Arena.ofShared();
        memory = arena.allocate(16L << 20, 4096);
        agent = Agent.create("faulty", AgentConfig.DEFAULT);
    }

    @AfterEach
    void nextTransferWorksAndNothingIsLeft() throws IOException {
        Path file = Files.write(folder.resolve("good"), new byte[BYTES]);
        agent.register(Descriptors.of(MemoryType.FILE).addPath(100, "rw", file.toString(), 0, BYTES));
        move(Operation.WRITE, 0, Descriptors.of(MemoryType.FILE).addRegisteredPath(100, 0, BYTES));
        move(Operation.READ, 0, Descriptors.of(MemoryType.FILE).addRegisteredPath(100, 0, BYTES));
        agent.close();
        arena.close();
        assertThat(NativeHandles.live()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"use_aio", "use_uring"})
    void readPastTheEndIsRefusedWithTheLength(String queue) throws IOException {
        begin(queue);
        Path file = Files.write(folder.resolve("short"), new byte[100]);
        agent.register(Descriptors.of(MemoryType.FILE).addPath(1, "ro", file.toString(), 0, BYTES));
        assertThatExceptionOfType(NixlException.class)
                .isThrownBy(() ->
                        move(Operation.READ, 0, Descriptors.of(MemoryType.FILE).addRegisteredPath(1, 0, BYTES)))
                .withMessageContaining("READ up to byte 1048576 of file " + file + ", which has 100")
                .satisfies(e -> assertThat(e.isShort()).isTrue());
    }

    @ParameterizedTest
    @ValueSource(strings = {"use_aio", "use_uring"})
    void fileThatIsCutBetweenTransfersIsNoticed(String queue) throws IOException {
        begin(queue);
        Path file = Files.write(folder.resolve("cut"), new byte[BYTES]);
        agent.register(Descriptors.of(MemoryType.FILE).addPath(1, "ro", file.toString(), 0, BYTES));
        try (Transfer transfer =
                transfer(Operation.READ, 0, Descriptors.of(MemoryType.FILE).addRegisteredPath(1, 0, BYTES))) {
            transfer.post();
            assertThat(transfer.await(LONG)).isTrue();
            Files.write(file, new byte[10]);
            assertThatExceptionOfType(NixlException.class)
                    .isThrownBy(transfer::post)
                    .withMessageContaining("which has 10");
            Files.write(file, new byte[BYTES]);
            transfer.post();
            assertThat(transfer.await(LONG)).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"use_aio", "use_uring"})
    void fullDeviceIsAnError(String queue) {
        begin(queue);
        agent.register(Descriptors.of(MemoryType.FILE).addPath(1, "rw", "/dev/full", 0, BYTES));
        assertThatExceptionOfType(NixlException.class)
                .isThrownBy(() ->
                        move(Operation.WRITE, 0, Descriptors.of(MemoryType.FILE).addRegisteredPath(1, 0, BYTES)))
                .withMessageContaining("BACKEND");
    }

    @ParameterizedTest
    @ValueSource(strings = {"use_aio", "use_uring"})
    void fullFileSystemIsAnError(String queue) throws Exception {
        begin(queue);
        Path small = Files.createDirectory(folder.resolve("small"));
        assumeTrue(run("mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", small.toString()), "no right to mount");
        try {
            Path file = small.resolve("file");
            long bytes = memory.byteSize();
            try (Registration _ = agent.register(
                    Descriptors.of(MemoryType.FILE).addPath(1, "rw,create", file.toString(), 0, bytes))) {
                Descriptors pieces = Descriptors.of(MemoryType.FILE);
                Descriptors local = Descriptors.of(MemoryType.DRAM);
                for (int at = 0; at < bytes; at += BYTES) {
                    pieces.addRegisteredPath(1, at, BYTES);
                    local.add(memory, at, BYTES);
                }
                assertThatExceptionOfType(NixlException.class).isThrownBy(() -> move(Operation.WRITE, local, pieces));
            }
        } finally {
            assertThat(run("umount", small.toString())).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"use_aio", "use_uring"})
    void misalignedDirectReadIsAnError(String queue) throws IOException {
        begin(queue);
        // Direct I/O needs a real file system; the build's folder has one, the temporary folder may not.
        Path file = Files.write(Files.createTempFile(Path.of("target"), "direct", ""), new byte[BYTES]);
        try (Registration _ =
                agent.register(Descriptors.of(MemoryType.FILE).addPath(1, "ro,direct", file.toString(), 0, BYTES))) {
            Descriptors remote = Descriptors.of(MemoryType.FILE).addRegisteredPath(1, 0, BYTES / 2);
            move(Operation.READ, Descriptors.of(MemoryType.DRAM).add(memory, 4096, BYTES / 2), remote);
            assertThatExceptionOfType(NixlException.class)
                    .isThrownBy(() ->
                            move(Operation.READ, Descriptors.of(MemoryType.DRAM).add(memory, 1, BYTES / 2), remote));
        } finally {
            Files.delete(file);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"use_aio", "use_uring"})
    void writeToAFileThatIsOnlyReadIsAnError(String queue) throws IOException {
        begin(queue);
        Path file = Files.write(folder.resolve("readonly"), new byte[BYTES]);
        agent.register(Descriptors.of(MemoryType.FILE).addPath(1, "ro", file.toString(), 0, BYTES));
        assertThatExceptionOfType(NixlException.class)
                .isThrownBy(() ->
                        move(Operation.WRITE, 0, Descriptors.of(MemoryType.FILE).addRegisteredPath(1, 0, BYTES)));
        assertThat(Files.readAllBytes(file)).containsOnly(0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"use_aio", "use_uring"})
    void closedFileDescriptorIsAnError(String queue) {
        begin(queue);
        agent.register(Descriptors.of(MemoryType.FILE).addFile(UNUSED_FILE_DESCRIPTOR, 0, BYTES));
        Descriptors remote = Descriptors.of(MemoryType.FILE).addFile(UNUSED_FILE_DESCRIPTOR, 0, BYTES);
        assertThatExceptionOfType(NixlException.class).isThrownBy(() -> move(Operation.READ, 0, remote));
        assertThatExceptionOfType(NixlException.class).isThrownBy(() -> move(Operation.WRITE, 0, remote));
    }

    @ParameterizedTest
    @ValueSource(strings = {"use_aio", "use_uring"})
    void missingFileAndFolderAreErrors(String queue) {
        begin(queue);
        for (String path : List.of(folder.resolve("missing").toString(), folder.toString())) {
            assertThatExceptionOfType(NixlException.class)
                    .isThrownBy(
                            () -> agent.register(Descriptors.of(MemoryType.FILE).addPath(1, "rw", path, 0, BYTES)))
                    .withMessageContaining("do its files open?");
        }
    }

    private void begin(String queue) {
        agent.createBackend("POSIX", Map.of(queue, "true"));
        memory.fill((byte) 5);
        agent.register(Descriptors.of(MemoryType.DRAM).add(memory));
    }

    private void move(Operation operation, long at, Descriptors remote) {
        move(operation, Descriptors.of(MemoryType.DRAM).add(memory, at, remote.bytes()), remote);
    }

    private void move(Operation operation, Descriptors local, Descriptors remote) {
        try (Transfer transfer = agent.transfer(operation, local, remote, "faulty", TransferOptions.DEFAULT)) {
            transfer.post();
            assertThat(transfer.await(LONG)).isTrue();
        }
    }

    private Transfer transfer(Operation operation, long at, Descriptors remote) {
        Descriptors local = Descriptors.of(MemoryType.DRAM).add(memory, at, remote.bytes());
        return agent.transfer(operation, local, remote, "faulty", TransferOptions.DEFAULT);
    }

    private static boolean run(String... command) throws IOException, InterruptedException {
        try {
            return new ProcessBuilder(command).start().waitFor() == 0;
        } catch (IOException e) {
            return false;
        }
    }
}
