package io.kvtier.bindings.nixl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.kvtier.bindings.ChildJvm;
import io.kvtier.bindings.FetchedNatives;
import io.kvtier.bindings.NativeHandles;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Two processes with an agent each, over UCX on the loopback device; one of them dies, or hangs. */
@ExtendWith(FetchedNatives.class)
class NixlProcessesTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration SHORT = Duration.ofMillis(300);
    private static final int SMALL = 4 << 20;
    private static final int LARGE = 256 << 20;
    private static final int PIECE = 16 << 20;

    private Arena arena;
    private Agent agent;
    private String peerName;

    @BeforeEach
    void create() {
        arena = Arena.ofShared();
        agent = Agent.create("here", AgentConfig.DEFAULT);
        agent.createBackend("UCX", Map.of());
    }

    @AfterEach
    void nothingIsLeft() {
        agent.close();
        arena.close();
        assertThat(NativeHandles.live()).isEmpty();
    }

    @Test
    void bytesAndMessagesGoBothWaysBetweenProcesses() throws Exception {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        MemorySegment memory = registered(SMALL);
        for (long at = 0; at < SMALL; at += Long.BYTES) {
            memory.set(ValueLayout.JAVA_LONG, at, random.nextLong());
        }
        try (ChildJvm peer = peer("there", SMALL)) {
            Descriptors remote = meet(peer, SMALL);
            peer.say("load " + Base64.getEncoder().encodeToString(agent.localMetadata()));
            assertThat(peer.hear("loaded ")).isEqualTo("here");
            try (Transfer write = transfer(Operation.WRITE, memory, remote)) {
                write.post("take this".getBytes(StandardCharsets.UTF_8));
                assertThat(write.await(LONG)).isTrue();
            }
            peer.say("notification");
            assertThat(peer.hear("notification ")).isEqualTo("here take this");
            long sum = UcxPeer.sum(memory);
            peer.say("sum");
            assertThat(peer.hear("sum ")).isEqualTo(Long.toString(sum));
            memory.fill((byte) 0);
            try (Transfer read = transfer(Operation.READ, memory, remote)) {
                read.post();
                assertThat(read.await(LONG)).isTrue();
            }
            assertThat(UcxPeer.sum(memory)).isEqualTo(sum);
            peer.say("notify here thank you");
            assertThat(awaitNotification()).isEqualTo("there thank you");
            peer.say("end");
            peer.hear("closed");
            assertThat(peer.exitCode()).as("UCX must not crash at exit").isZero();
        }
    }

    @Test
    void killedPeerFailsWhatIsOpenAndItsSuccessorWorks() throws Exception {
        MemorySegment memory = registered(LARGE);
        List<Transfer> open = new ArrayList<>();
        Descriptors dead;
        try (ChildJvm peer = peer("mortal", LARGE)) {
            dead = meet(peer, LARGE);
            agent.connect("mortal");
            for (int i = 0; i < 3; i++) {
                open.add(transfer(Operation.WRITE, memory, dead));
                open.getLast().post();
            }
            peer.signal("KILL");
            peer.exitCode();
        }
        for (Transfer transfer : open) {
            assertThatExceptionOfType(NixlException.class).isThrownBy(() -> transfer.await(LONG));
            assertThatIllegalStateException().isThrownBy(transfer::post).withMessageContaining("is FAILED");
            transfer.close();
        }
        assertThatExceptionOfType(NixlException.class).isThrownBy(() -> {
            try (Transfer late = transfer(Operation.WRITE, memory, dead)) {
                late.post();
                late.await(LONG);
            }
        });
        try (ChildJvm successor = peer("mortal", LARGE)) {
            long address = Long.parseLong(successor.hear("memory "));
            byte[] metadata = Base64.getDecoder().decode(successor.hear("metadata "));
            agent.invalidateRemote("mortal");
            assertThat(agent.loadRemoteMetadata(metadata)).isEqualTo("mortal");
            try (Transfer read = transfer(Operation.READ, memory, remote(address, LARGE))) {
                read.post();
                assertThat(read.await(LONG)).isTrue();
            }
            assertThat(memory.get(ValueLayout.JAVA_BYTE, LARGE - 1)).isEqualTo((byte) 7);
        }
    }

    @Test
    void hangingPeerIsBoundedAndMayComeBack() throws Exception {
        MemorySegment memory = registered(LARGE);
        try (ChildJvm peer = peer("sleeper", LARGE)) {
            Descriptors remote = meet(peer, LARGE);
            agent.connect("sleeper");
            peer.signal("STOP");
            Transfer transfer = transfer(Operation.READ, memory, remote);
            transfer.post();
            assertThat(transfer.await(SHORT)).isFalse();
            assertThatIllegalStateException()
                    .isThrownBy(() -> agent.invalidateRemote("sleeper"))
                    .withMessageContaining("1 transfers with it are in progress");
            assertThatIllegalStateException()
                    .isThrownBy(agent::close)
                    .withMessageContaining("their memory must stay open")
                    .withMessageContaining("agent here");
            assertThat(NativeHandles.live()).containsEntry("nixl.agent", 1L).containsEntry("nixl.transfer", 1L);
            peer.signal("CONT");
            assertThat(transfer.await(LONG)).isTrue();
            assertThat(memory.get(ValueLayout.JAVA_BYTE, LARGE - 1)).isEqualTo((byte) 7);
            transfer.close();
        }
    }

    private MemorySegment registered(long bytes) {
        MemorySegment memory = arena.allocate(bytes, 4096);
        agent.register(Descriptors.of(MemoryType.DRAM).add(memory));
        return memory;
    }

    private ChildJvm peer(String name, long bytes) throws Exception {
        peerName = name;
        return ChildJvm.start(UcxPeer.class, List.of(), name, Long.toString(bytes));
    }

    /** Loads the peer's metadata and returns its memory. */
    private Descriptors meet(ChildJvm peer, long bytes) {
        long address = Long.parseLong(peer.hear("memory "));
        assertThat(agent.loadRemoteMetadata(Base64.getDecoder().decode(peer.hear("metadata "))))
                .isEqualTo(peerName);
        return remote(address, bytes);
    }

    private static Descriptors remote(long address, long bytes) {
        Descriptors pieces = Descriptors.of(MemoryType.DRAM);
        for (long at = 0; at < bytes; at += PIECE) {
            pieces.addRemote(address + at, Math.min(PIECE, bytes - at));
        }
        return pieces;
    }

    private Transfer transfer(Operation operation, MemorySegment memory, Descriptors remote) {
        return agent.transfer(operation, pieces(memory), remote, peerName, TransferOptions.DEFAULT);
    }

    private static Descriptors pieces(MemorySegment memory) {
        Descriptors pieces = Descriptors.of(MemoryType.DRAM);
        for (long at = 0; at < memory.byteSize(); at += PIECE) {
            pieces.add(memory, at, Math.min(PIECE, memory.byteSize() - at));
        }
        return pieces;
    }

    /** Asking is what moves messages; each question is a call into the library, so this does not spin idly. */
    private String awaitNotification() {
        long deadline = System.nanoTime() + LONG.toNanos();
        List<Notification> notifications = agent.notifications();
        while (notifications.isEmpty() && System.nanoTime() - deadline < 0) {
            notifications = agent.notifications();
        }
        assertThat(notifications).hasSize(1);
        Notification first = notifications.getFirst();
        return first.from() + " " + new String(first.message(), StandardCharsets.UTF_8);
    }
}
