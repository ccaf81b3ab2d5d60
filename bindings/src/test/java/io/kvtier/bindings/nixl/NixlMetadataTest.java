package io.kvtier.bindings.nixl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvtier.bindings.FetchedNatives;
import io.kvtier.bindings.NativeHandles;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Metadata in parts and by NIXL's own sockets, over UCX on the loopback device. */
@ExtendWith(FetchedNatives.class)
class NixlMetadataTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final int BYTES = 64 << 10;

    @AfterEach
    void nothingIsLeft() {
        assertThat(NativeHandles.live()).isEmpty();
    }

    @Test
    void partsAreLoadedOneAfterAnother() {
        try (Arena arena = Arena.ofShared();
                Agent here = agent("reader", AgentConfig.DEFAULT);
                Agent there = agent("holder", AgentConfig.DEFAULT)) {
            MemorySegment target = arena.allocate(BYTES, 4096);
            MemorySegment shown = arena.allocate(BYTES, 4096).fill((byte) 1);
            MemorySegment hidden = arena.allocate(BYTES, 4096).fill((byte) 2);
            here.register(Descriptors.of(MemoryType.DRAM).add(target));
            Descriptors all = Descriptors.of(MemoryType.DRAM).add(shown).add(hidden);
            there.register(all);
            assertThat(here.loadRemoteMetadata(there.localConnection())).isEqualTo("holder");
            assertThatExceptionOfType(NixlException.class).isThrownBy(() -> read(here, target, shown));
            here.loadRemoteMetadata(
                    there.localMetadata(Descriptors.of(MemoryType.DRAM).add(shown)));
            read(here, target, shown);
            assertThat(target.mismatch(shown)).isEqualTo(-1);
            assertThatExceptionOfType(NixlException.class).isThrownBy(() -> read(here, target, hidden));
            here.loadRemoteMetadata(
                    there.localMetadata(Descriptors.of(MemoryType.DRAM).add(hidden)));
            read(here, target, hidden);
            assertThat(target.mismatch(hidden)).isEqualTo(-1);
        }
    }

    @Test
    void partThatIsNotRegisteredIsRefused() {
        try (Arena arena = Arena.ofShared();
                Agent agent = agent("holder", AgentConfig.DEFAULT)) {
            Descriptors unknown = Descriptors.of(MemoryType.DRAM).add(arena.allocate(64));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> agent.localMetadata(unknown))
                    .withMessageContaining("64 bytes of type DRAM at 0x");
        }
    }

    @Test
    void agentsThatListenFetchAndSendMetadata() throws Exception {
        int portHere = freePort();
        int portThere = freePort();
        try (Arena arena = Arena.ofShared();
                Agent here = agent("here", AgentConfig.DEFAULT.listening(portHere));
                Agent there = agent("there", AgentConfig.DEFAULT.listening(portThere))) {
            MemorySegment target = arena.allocate(BYTES, 4096);
            MemorySegment source = arena.allocate(BYTES, 4096).fill((byte) 9);
            here.register(Descriptors.of(MemoryType.DRAM).add(target));
            there.register(Descriptors.of(MemoryType.DRAM).add(source));
            here.fetchMetadata("there", at(portThere));
            awaitKnown(here, "there", true);
            try (Transfer transfer = here.transfer(
                    Operation.READ,
                    Descriptors.of(MemoryType.DRAM).add(target),
                    Descriptors.of(MemoryType.DRAM).add(source),
                    "there",
                    TransferOptions.DEFAULT)) {
                transfer.post();
                assertThat(transfer.await(LONG)).isTrue();
            }
            assertThat(target.mismatch(source)).isEqualTo(-1);
            here.sendMetadata(at(portThere));
            awaitKnown(there, "here", true);
            here.withdrawMetadata(at(portThere));
            awaitKnown(there, "here", false);
        }
    }

    private static void read(Agent agent, MemorySegment target, MemorySegment source) {
        try (Transfer transfer = agent.transfer(
                Operation.READ,
                Descriptors.of(MemoryType.DRAM).add(target),
                Descriptors.of(MemoryType.DRAM).addRemote(source.address(), source.byteSize()),
                "holder",
                TransferOptions.DEFAULT)) {
            transfer.post();
            assertThat(transfer.await(LONG)).isTrue();
        }
    }

    private static void awaitKnown(Agent agent, String remote, boolean known) {
        long deadline = System.nanoTime() + LONG.toNanos();
        while (agent.knows(remote) != known && System.nanoTime() - deadline < 0) {
            LockSupport.parkNanos(1_000_000);
        }
        assertThat(agent.knows(remote)).isEqualTo(known);
    }

    private static MetadataServer at(int port) {
        return MetadataServer.agentAt(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private static Agent agent(String name, AgentConfig config) {
        Agent agent = Agent.create(name, config);
        agent.createBackend("UCX", Map.of());
        return agent;
    }
}
