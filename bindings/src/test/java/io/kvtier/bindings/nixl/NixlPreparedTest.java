package io.kvtier.bindings.nixl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.kvtier.bindings.FetchedNatives;
import io.kvtier.bindings.NativeHandles;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Descriptors looked up in advance, telemetry, cost and the closing order, with the real POSIX plugin. */
@ExtendWith(FetchedNatives.class)
class NixlPreparedTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final int PIECE = 4096;
    private static final int PIECES = 8;

    @TempDir
    Path folder;

    private Arena arena;
    private Agent agent;
    private Backend posix;
    private MemorySegment memory;
    private Registration registeredMemory;
    private Registration registeredFile;
    private PreparedDescriptors local;
    private PreparedDescriptors remote;

    @BeforeEach
    void prepare() {
        arena = Arena.ofShared();
        agent = Agent.create("planner", AgentConfig.DEFAULT.withTelemetry());
        posix = agent.createBackend("POSIX", Map.of("ios_pool_size", "64"));
        memory = arena.allocate(PIECE * PIECES, 4096);
        registeredMemory = agent.register(Descriptors.of(MemoryType.DRAM).add(memory));
        registeredFile = agent.register(Descriptors.of(MemoryType.FILE)
                .addPath(1, "rw,create", folder.resolve("pool").toString(), 0, PIECE * PIECES));
        Descriptors pieces = Descriptors.of(MemoryType.DRAM);
        Descriptors places = Descriptors.of(MemoryType.FILE);
        for (int i = 0; i < PIECES; i++) {
            pieces.add(memory, (long) i * PIECE, PIECE);
            places.addRegisteredPath(1, (long) i * PIECE, PIECE);
        }
        local = agent.prepareLocal(pieces);
        remote = agent.prepareRemote(places, "planner");
    }

    @AfterEach
    void nothingIsLeft() {
        agent.close();
        arena.close();
        assertThat(NativeHandles.live()).isEmpty();
    }

    @Test
    void indicesChooseWhatIsMovedWhere() {
        for (int i = 0; i < PIECES; i++) {
            memory.asSlice((long) i * PIECE, PIECE).fill((byte) (i + 1));
        }
        move(Operation.WRITE, new int[] {0, 1, 2, 3, 4, 5, 6, 7}, new int[] {7, 6, 5, 4, 3, 2, 1, 0});
        memory.fill((byte) 0);
        move(Operation.READ, new int[] {2, 5}, new int[] {0, 7});
        assertThat(memory.asSlice(2 * PIECE, PIECE).toArray(ValueLayout.JAVA_BYTE))
                .containsOnly(8);
        assertThat(memory.asSlice(5 * PIECE, PIECE).toArray(ValueLayout.JAVA_BYTE))
                .containsOnly(1);
        assertThat(memory.asSlice(3 * PIECE, PIECE).toArray(ValueLayout.JAVA_BYTE))
                .containsOnly(0);
    }

    @Test
    void adjacentDescriptorsAreMergedUnlessKeptApart() {
        int[] all = {0, 1, 2, 3, 4, 5, 6, 7};
        assertThat(telemetry(all, TransferOptions.DEFAULT).descriptors()).isOne();
        TransferTelemetry apart = telemetry(all, TransferOptions.DEFAULT.keepingDescriptorsApart());
        assertThat(apart.descriptors()).isEqualTo(PIECES);
        assertThat(apart.bytes()).isEqualTo(PIECE * PIECES);
        assertThat(apart.total()).isPositive().isLessThan(LONG).isGreaterThanOrEqualTo(apart.post());
        assertThat(System.nanoTime() - apart.startNanos()).isBetween(0L, LONG.toNanos());
    }

    @Test
    void indicesAreCheckedInJava() {
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> move(Operation.WRITE, new int[] {8}, new int[] {0}));
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> move(Operation.WRITE, new int[] {0}, new int[] {-1}));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> move(Operation.WRITE, new int[] {0, 1}, new int[] {0}))
                .withMessageContaining("2 local, 1 remote");
        assertThatIllegalArgumentException().isThrownBy(() -> move(Operation.WRITE, new int[0], new int[0]));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> agent.transfer(
                        Operation.WRITE, remote, new int[] {0}, local, new int[] {0}, TransferOptions.DEFAULT))
                .withMessageContaining("prepareLocal");
        PreparedDescriptors longer =
                agent.prepareLocal(Descriptors.of(MemoryType.DRAM).add(memory));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> agent.transfer(
                        Operation.WRITE, longer, new int[] {0}, remote, new int[] {0}, TransferOptions.DEFAULT))
                .withMessageContaining("32768 local, 4096 remote");
    }

    @Test
    void anotherAgentsDescriptorsAreRefused() {
        try (Agent other = Agent.create("other", AgentConfig.DEFAULT)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> other.transfer(
                            Operation.WRITE, local, new int[] {0}, remote, new int[] {0}, TransferOptions.DEFAULT))
                    .withMessageContaining("belong to another agent than other");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> other.describe(posix))
                    .withMessageContaining("another agent");
            assertThatIllegalArgumentException()
                    .isThrownBy(
                            () -> other.register(Descriptors.of(MemoryType.DRAM).add(memory), posix));
        }
    }

    @Test
    void closedDescriptorsRefuseButTheirTransfersLiveOn() {
        Transfer transfer =
                agent.transfer(Operation.WRITE, local, new int[] {0}, remote, new int[] {0}, TransferOptions.DEFAULT);
        local.close();
        local.close();
        remote.close();
        transfer.post();
        assertThat(transfer.await(LONG)).isTrue();
        transfer.close();
        assertThatIllegalStateException()
                .isThrownBy(() -> move(Operation.WRITE, new int[] {0}, new int[] {0}))
                .withMessageContaining("are closed");
    }

    @Test
    void whatIsInUseStaysRegistered() {
        assertThatIllegalStateException()
                .isThrownBy(registeredFile::close)
                .withMessageContaining("0 open transfers and 1 prepared lists");
        Transfer transfer =
                agent.transfer(Operation.WRITE, local, new int[] {0}, remote, new int[] {0}, TransferOptions.DEFAULT);
        local.close();
        remote.close();
        assertThatIllegalStateException()
                .isThrownBy(registeredMemory::close)
                .withMessageContaining("1 open transfers and 0 prepared lists");
        transfer.post();
        assertThat(transfer.await(LONG)).isTrue();
        transfer.close();
        registeredMemory.close();
        registeredFile.close();
        registeredFile.close();
        assertThatExceptionOfType(NixlException.class)
                .isThrownBy(
                        () -> agent.prepareLocal(Descriptors.of(MemoryType.DRAM).add(memory)))
                .withMessageContaining("is all of it registered");
    }

    @Test
    void backendAndCostAreTold() {
        try (Transfer transfer =
                agent.transfer(Operation.WRITE, local, new int[] {0}, remote, new int[] {0}, TransferOptions.DEFAULT)) {
            assertThat(transfer.backend()).containsSame(posix);
            assertThat(transfer.estimate()).isEmpty();
            assertThatIllegalStateException().isThrownBy(transfer::telemetry).withMessageContaining("CREATED");
        }
        assertThat(agent.describe(posix).parameters()).containsEntry("ios_pool_size", "64");
        assertThat(agent.describe(posix).memoryTypes()).contains(MemoryType.FILE);
    }

    @Test
    void withoutTelemetryThereIsNone() {
        try (Agent other = Agent.create("quiet", AgentConfig.DEFAULT)) {
            other.createBackend("POSIX", Map.of());
            other.register(Descriptors.of(MemoryType.DRAM).add(memory));
            other.register(Descriptors.of(MemoryType.FILE)
                    .addPath(1, "rw,create", folder.resolve("quiet").toString(), 0, PIECE));
            try (Transfer transfer = other.transfer(
                    Operation.WRITE,
                    Descriptors.of(MemoryType.DRAM).add(memory, 0, PIECE),
                    Descriptors.of(MemoryType.FILE).addRegisteredPath(1, 0, PIECE),
                    "quiet",
                    TransferOptions.DEFAULT)) {
                transfer.post();
                assertThat(transfer.await(LONG)).isTrue();
                assertThat(transfer.telemetry()).isEmpty();
            }
        }
    }

    private TransferTelemetry telemetry(int[] indices, TransferOptions options) {
        try (Transfer transfer = agent.transfer(Operation.WRITE, local, indices, remote, indices, options)) {
            transfer.post();
            assertThat(transfer.await(LONG)).isTrue();
            return transfer.telemetry().orElseThrow();
        }
    }

    private void move(Operation operation, int[] from, int[] to) {
        try (Transfer transfer = agent.transfer(operation, local, from, remote, to, TransferOptions.DEFAULT)) {
            transfer.post();
            assertThat(transfer.await(LONG)).isTrue();
        }
    }
}
