package io.kvtier.bindings.nixl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.kvtier.bindings.Availability;
import io.kvtier.bindings.FetchedNatives;
import io.kvtier.bindings.NativeHandles;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** The real library, the POSIX plugin and real files. */
@ExtendWith(FetchedNatives.class)
class NixlPosixTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final int PIECE = 4 << 20;
    private static final int PIECES = 16;

    @TempDir
    Path folder;

    @AfterEach
    void nothingIsLeft() {
        assertThat(NativeHandles.live()).isEmpty();
    }

    @Test
    void libraryIsFoundWithItsVersion() {
        assertThat(Nixl.availability()).isInstanceOf(Availability.Present.class);
        assertThat(Nixl.availability().toString()).startsWith("NIXL 1.5.1 (");
    }

    @Test
    void pluginsAreListedAndDescribed() {
        try (Agent agent = Agent.create("lister", AgentConfig.DEFAULT)) {
            assertThat(agent.plugins()).contains("POSIX", "UCX");
            PluginDescription posix = agent.describePlugin("POSIX");
            assertThat(posix.memoryTypes()).contains(MemoryType.DRAM, MemoryType.FILE);
            assertThat(posix.parameters()).containsEntry("ios_pool_size", "65536");
        }
    }

    @Test
    void writesAndReadsBack64Mebibytes() throws Exception {
        Path file = folder.resolve("kv.bin");
        try (Arena arena = Arena.ofShared();
                Agent agent = Agent.create("tier", AgentConfig.DEFAULT)) {
            agent.createBackend("POSIX", Map.of());
            MemorySegment source = arena.allocate((long) PIECE * PIECES, 4096);
            MemorySegment target = arena.allocate((long) PIECE * PIECES, 4096);
            fillRandomly(source, 11);
            try (Registration memory = agent.register(
                            Descriptors.of(MemoryType.DRAM).add(source).add(target));
                    Registration disk = agent.register(Descriptors.of(MemoryType.FILE)
                            .addPath(1, "rw,create", file.toString(), 0, source.byteSize()))) {
                assertThat(memory.descriptors().size()).isEqualTo(2);
                assertThat(disk.descriptors().bytes()).isEqualTo(source.byteSize());
                run(agent, Operation.WRITE, pieces(source), filePieces(1));
                run(agent, Operation.READ, pieces(target), filePieces(1));
            }
            assertThat(target.mismatch(source)).isEqualTo(-1);
            assertThat(Files.size(file)).isEqualTo(source.byteSize());
        }
    }

    @Test
    void transferCanBePostedAgain() {
        try (Arena arena = Arena.ofShared();
                Agent agent = Agent.create("again", AgentConfig.DEFAULT)) {
            agent.createBackend("POSIX", Map.of());
            MemorySegment memory = arena.allocate(4096, 4096);
            agent.register(Descriptors.of(MemoryType.DRAM).add(memory));
            agent.register(file(7, 4096));
            Descriptors remote = Descriptors.of(MemoryType.FILE).addRegisteredPath(7, 0, 4096);
            try (Transfer transfer = agent.transfer(
                    Operation.WRITE,
                    Descriptors.of(MemoryType.DRAM).add(memory),
                    remote,
                    "again",
                    TransferOptions.DEFAULT)) {
                for (int round = 0; round < 3; round++) {
                    transfer.post();
                    assertThat(transfer.await(LONG)).isTrue();
                }
            }
        }
    }

    @Test
    void readPastTheEndIsAnError() throws Exception {
        Path file = Files.write(folder.resolve("short"), new byte[100]);
        try (Arena arena = Arena.ofShared();
                Agent agent = Agent.create("short", AgentConfig.DEFAULT)) {
            agent.createBackend("POSIX", Map.of());
            MemorySegment memory = arena.allocate(4096, 4096);
            agent.register(Descriptors.of(MemoryType.DRAM).add(memory));
            agent.register(Descriptors.of(MemoryType.FILE).addPath(3, "ro", file.toString(), 0, 4096));
            Descriptors remote = Descriptors.of(MemoryType.FILE).addRegisteredPath(3, 0, 4096);
            Transfer transfer = agent.transfer(
                    Operation.READ,
                    Descriptors.of(MemoryType.DRAM).add(memory),
                    remote,
                    "short",
                    TransferOptions.DEFAULT);
            assertThatExceptionOfType(NixlException.class).isThrownBy(() -> {
                transfer.post();
                transfer.await(LONG);
            });
            transfer.close();
            transfer.close();
        }
    }

    @Test
    void queryTellsWhatExists() throws Exception {
        Path there = Files.write(folder.resolve("there"), new byte[123]);
        try (Agent agent = Agent.create("asker", AgentConfig.DEFAULT)) {
            Backend posix = agent.createBackend("POSIX", Map.of());
            var answers = agent.query(
                    Descriptors.of(MemoryType.FILE)
                            .addPath(there.toString())
                            .addPath(folder.resolve("missing").toString()),
                    posix);
            assertThat(answers).hasSize(2);
            assertThat(answers.get(0))
                    .hasValueSatisfying(facts -> assertThat(facts).containsEntry("size", "123"));
            assertThat(answers.get(1)).isEmpty();
        }
    }

    @Test
    void unknownPluginNamesTheInstalledOnes() {
        try (Agent agent = Agent.create("wisher", AgentConfig.DEFAULT)) {
            assertThatExceptionOfType(NixlException.class)
                    .isThrownBy(() -> agent.createBackend("NO_SUCH", Map.of("secret", "hush")))
                    .withMessageContaining("NO_SUCH")
                    .withMessageContaining("POSIX")
                    .withMessageNotContaining("hush");
        }
    }

    @Test
    void closedAgentRefuses() {
        Agent agent = Agent.create("gone", AgentConfig.DEFAULT);
        agent.close();
        agent.close();
        assertThatIllegalStateException().isThrownBy(agent::plugins).withMessageContaining("agent gone is closed");
    }

    @Test
    void wrongDescriptorsAreRefusedBeforeNativeCodeSeesThem() {
        Descriptors memory = Descriptors.of(MemoryType.DRAM);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> memory.add(MemorySegment.ofArray(new byte[8])))
                .withMessageContaining("heap segment of 8 bytes");
        MemorySegment closed;
        try (Arena arena = Arena.ofConfined()) {
            closed = arena.allocate(16);
            assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> memory.add(closed, 8, 9));
            assertThatIllegalArgumentException().isThrownBy(() -> memory.add(closed, 0, 0));
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> memory.add(closed))
                .withMessageContaining("closed");
        assertThatIllegalArgumentException().isThrownBy(() -> memory.addFile(1, 0, 1));
        Descriptors files = Descriptors.of(MemoryType.FILE);
        assertThatIllegalArgumentException().isThrownBy(() -> files.addFile(-1, 0, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> files.addFile(1, 0, -5));
        assertThatIllegalArgumentException().isThrownBy(() -> files.addPath(1, "rw", "a\0b", 0, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> files.addPath(1, "write", "a", 0, 1));
        assertThat(memory.size() + files.size()).isZero();
    }

    @Test
    void handlesDoNotAddUpOverManyTransfers() {
        try (Arena arena = Arena.ofShared();
                Agent agent = Agent.create("many", AgentConfig.DEFAULT)) {
            agent.createBackend("POSIX", Map.of());
            MemorySegment memory = arena.allocate(4096, 4096);
            agent.register(Descriptors.of(MemoryType.DRAM).add(memory));
            agent.register(file(9, 4096));
            for (int i = 0; i < 2_000; i++) {
                run(
                        agent,
                        i % 2 == 0 ? Operation.WRITE : Operation.READ,
                        Descriptors.of(MemoryType.DRAM).add(memory),
                        Descriptors.of(MemoryType.FILE).addRegisteredPath(9, 0, 4096));
            }
            assertThat(NativeHandles.live()).containsOnlyKeys("nixl.agent", "nixl.backend");
        }
    }

    private Descriptors file(long id, long length) {
        return Descriptors.of(MemoryType.FILE)
                .addPath(id, "rw,create", folder.resolve("file" + id).toString(), 0, length);
    }

    private static void run(Agent agent, Operation operation, Descriptors local, Descriptors remote) {
        try (Transfer transfer = agent.transfer(operation, local, remote, agent.name(), TransferOptions.DEFAULT)) {
            transfer.post();
            assertThat(transfer.await(LONG)).isTrue();
        }
    }

    private static Descriptors pieces(MemorySegment memory) {
        Descriptors pieces = Descriptors.of(MemoryType.DRAM);
        for (int i = 0; i < PIECES; i++) {
            pieces.add(memory, (long) i * PIECE, PIECE);
        }
        return pieces;
    }

    private static Descriptors filePieces(long id) {
        Descriptors pieces = Descriptors.of(MemoryType.FILE);
        for (int i = 0; i < PIECES; i++) {
            pieces.addRegisteredPath(id, (long) i * PIECE, PIECE);
        }
        return pieces;
    }

    private static void fillRandomly(MemorySegment memory, long seed) {
        Random random = new Random(seed);
        for (long at = 0; at < memory.byteSize(); at += Long.BYTES) {
            memory.set(ValueLayout.JAVA_LONG, at, random.nextLong());
        }
    }
}
