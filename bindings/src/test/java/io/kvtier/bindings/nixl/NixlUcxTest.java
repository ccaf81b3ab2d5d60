package io.kvtier.bindings.nixl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.kvtier.bindings.FetchedNatives;
import io.kvtier.bindings.NativeHandles;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Two agents of the real library over UCX on the loopback device, in one process. */
@ExtendWith(FetchedNatives.class)
class NixlUcxTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final int BYTES = 8 << 20;

    @AfterEach
    void nothingIsLeft() {
        assertThat(NativeHandles.live()).isEmpty();
    }

    @Test
    void writesToAnotherAgentAndNotifiesIt() {
        try (Arena arena = Arena.ofShared();
                Agent here = agent("here");
                Agent there = agent("there")) {
            MemorySegment source = arena.allocate(BYTES, 4096).fill((byte) 42);
            MemorySegment target = arena.allocate(BYTES, 4096);
            Descriptors local = Descriptors.of(MemoryType.DRAM).add(source);
            Descriptors remote = Descriptors.of(MemoryType.DRAM).add(target);
            here.register(local);
            there.register(remote);
            assertThat(here.loadRemoteMetadata(there.localMetadata())).isEqualTo("there");
            assertThat(there.loadRemoteMetadata(here.localMetadata())).isEqualTo("here");
            byte[] message = {0, 1, -1, 127};
            TransferOptions options = TransferOptions.DEFAULT.withNotification(message);
            try (Transfer transfer = here.transfer(Operation.WRITE, local, remote, "there", options)) {
                transfer.post();
                assertThat(transfer.await(LONG)).isTrue();
            }
            Notification notification = awaitNotification(there);
            assertThat(notification.from()).isEqualTo("here");
            assertThat(notification.message()).isEqualTo(message);
            assertThat(target.mismatch(source)).isEqualTo(-1);
        }
    }

    @Test
    void readsFromAnotherAgent() {
        try (Arena arena = Arena.ofShared();
                Agent here = agent("reader");
                Agent there = agent("holder")) {
            MemorySegment target = arena.allocate(BYTES, 4096);
            MemorySegment source = arena.allocate(BYTES, 4096);
            source.set(ValueLayout.JAVA_BYTE, BYTES - 1, (byte) 7);
            Descriptors local = Descriptors.of(MemoryType.DRAM).add(target);
            Descriptors remote = Descriptors.of(MemoryType.DRAM).add(source);
            here.register(local);
            there.register(remote);
            here.loadRemoteMetadata(there.localMetadata());
            here.connect("holder");
            try (Transfer transfer = here.transfer(Operation.READ, local, remote, "holder", TransferOptions.DEFAULT)) {
                transfer.post();
                assertThat(transfer.await(LONG)).isTrue();
            }
            assertThat(target.get(ValueLayout.JAVA_BYTE, BYTES - 1)).isEqualTo((byte) 7);
        }
    }

    @Test
    void messageOfItsOwnArrives() {
        try (Agent here = agent("caller");
                Agent there = agent("called")) {
            here.loadRemoteMetadata(there.localMetadata());
            here.notify("called", "hello".getBytes(StandardCharsets.UTF_8));
            assertThat(awaitNotification(there).message())
                    .asString(StandardCharsets.UTF_8)
                    .isEqualTo("hello");
        }
    }

    @Test
    void unknownAndForgottenAgentsAreToldApart() {
        try (Arena arena = Arena.ofShared();
                Agent here = agent("one");
                Agent there = agent("two")) {
            assertThat(here.knows("two")).isFalse();
            here.loadRemoteMetadata(there.localMetadata());
            assertThat(here.knows("two")).isTrue();
            here.invalidateRemote("two");
            assertThat(here.knows("two")).isFalse();
            Descriptors local = Descriptors.of(MemoryType.DRAM).add(arena.allocate(64));
            here.register(local);
            assertThatExceptionOfType(NixlException.class)
                    .isThrownBy(() -> here.transfer(Operation.WRITE, local, local, "two", TransferOptions.DEFAULT))
                    .withMessageContaining("is all of it registered, and the agent's metadata loaded?");
        }
    }

    @Test
    void nonsenseIsNoMetadata() {
        try (Agent here = agent("lonely")) {
            assertThatExceptionOfType(NixlException.class)
                    .isThrownBy(() -> here.loadRemoteMetadata(new byte[] {1, 2, 3}));
            byte[] own = here.localMetadata();
            assertThatExceptionOfType(NixlException.class).isThrownBy(() -> here.loadRemoteMetadata(own));
        }
    }

    private static Agent agent(String name) {
        Agent agent = Agent.create(name, AgentConfig.DEFAULT);
        agent.createBackend("UCX", Map.of());
        return agent;
    }

    /** Asking is what moves messages; each question is a call into the library, so this does not spin idly. */
    private static Notification awaitNotification(Agent agent) {
        long deadline = System.nanoTime() + LONG.toNanos();
        List<Notification> notifications = new ArrayList<>();
        while (notifications.isEmpty() && System.nanoTime() - deadline < 0) {
            notifications.addAll(agent.notifications());
        }
        assertThat(notifications).hasSize(1);
        return notifications.getFirst();
    }
}
