package io.kvtier.bindings.nixl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.kvtier.bindings.FetchedNatives;
import io.kvtier.bindings.NativeHandles;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Many threads with one agent, two with one transfer, and a close among them. */
@ExtendWith(FetchedNatives.class)
class NixlThreadsTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final int PIECE = 64 << 10;

    @TempDir
    Path folder;

    @AfterEach
    void nothingIsLeft() {
        assertThat(NativeHandles.live()).isEmpty();
    }

    @Test
    void oneTransferInTwoThreadsIsRefusedOrDone() throws Exception {
        try (Arena arena = Arena.ofShared();
                Agent agent = agent("shared");
                ExecutorService threads = Executors.newFixedThreadPool(2)) {
            Transfer transfer = transfer(agent, arena.allocate(PIECE, 4096), 1);
            AtomicInteger refused = new AtomicInteger();
            AtomicInteger done = new AtomicInteger();
            List<Future<?>> futures = new ArrayList<>();
            for (int thread = 0; thread < 2; thread++) {
                futures.add(threads.submit(() -> {
                    for (int i = 0; i < 5_000; i++) {
                        tryTransfer(transfer, done, refused);
                    }
                }));
            }
            for (Future<?> future : futures) {
                future.get(60, TimeUnit.SECONDS);
            }
            assertThat(done.get()).isPositive();
            assertThat(done.get() + refused.get()).isEqualTo(10_000);
            transfer.close();
        }
    }

    private static void tryTransfer(Transfer transfer, AtomicInteger done, AtomicInteger refused) {
        try {
            transfer.post();
            assertThat(transfer.await(LONG)).isTrue();
            done.incrementAndGet();
        } catch (IllegalStateException e) {
            assertThat(e.getMessage()).containsAnyOf("is used by two threads at once", "it must be");
            refused.incrementAndGet();
        }
    }

    @Test
    void agentIsClosedSafelyUnderThreadsThatPoll() throws Exception {
        for (int round = 0; round < 20; round++) {
            try (Arena arena = Arena.ofShared();
                    ExecutorService threads = Executors.newFixedThreadPool(3)) {
                Agent agent = agent("closing");
                CountDownLatch started = new CountDownLatch(3);
                List<Future<String>> ends = new ArrayList<>();
                for (int thread = 1; thread <= 3; thread++) {
                    Transfer transfer = transfer(agent, arena.allocate(PIECE, 4096), thread);
                    ends.add(threads.submit(() -> transferUntilClosed(transfer, started)));
                }
                assertThat(started.await(60, TimeUnit.SECONDS)).isTrue();
                agent.close();
                for (Future<String> end : ends) {
                    assertThat(end.get(60, TimeUnit.SECONDS)).contains("is CLOSED");
                }
            }
        }
    }

    private static String transferUntilClosed(Transfer transfer, CountDownLatch started) {
        try {
            while (true) {
                transfer.post();
                transfer.await(LONG);
                started.countDown();
            }
        } catch (IllegalStateException e) {
            return String.valueOf(e.getMessage());
        }
    }

    @Test
    void manyThreadsTransferRegisterAndAsk() throws Exception {
        try (Arena arena = Arena.ofShared();
                Agent agent = Agent.create("busy", AgentConfig.DEFAULT);
                ExecutorService threads = Executors.newFixedThreadPool(4)) {
            Backend posix = agent.createBackend("POSIX", Map.of());
            List<Future<?>> futures = new ArrayList<>();
            for (int thread = 1; thread <= 4; thread++) {
                int id = thread;
                MemorySegment memory = arena.allocate(PIECE, 4096).fill((byte) id);
                futures.add(threads.submit(() -> work(agent, posix, memory, id)));
            }
            for (Future<?> future : futures) {
                future.get(60, TimeUnit.SECONDS);
            }
        }
    }

    private void work(Agent agent, Backend posix, MemorySegment memory, int id) {
        String path = folder.resolve("own" + id).toString();
        Descriptors local = Descriptors.of(MemoryType.DRAM).add(memory);
        Descriptors remote = Descriptors.of(MemoryType.FILE).addRegisteredPath(id, 0, PIECE);
        for (int i = 0; i < 200; i++) {
            try (Registration _ = agent.register(local);
                    Registration _ =
                            agent.register(Descriptors.of(MemoryType.FILE).addPath(id, "rw,create", path, 0, PIECE));
                    Transfer write = agent.transfer(Operation.WRITE, local, remote, "busy", TransferOptions.DEFAULT)) {
                write.post();
                assertThat(write.await(LONG)).isTrue();
            }
            assertThat(agent.query(Descriptors.of(MemoryType.FILE).addPath(path), posix)
                            .getFirst())
                    .hasValueSatisfying(facts -> assertThat(facts).containsEntry("size", Integer.toString(PIECE)));
        }
    }

    @Test
    void agentThatIsClosedTwiceAtOnceIsClosedOnce() throws Exception {
        Agent agent = agent("twice");
        try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
            Future<?> one = threads.submit(agent::close);
            Future<?> two = threads.submit(agent::close);
            one.get(60, TimeUnit.SECONDS);
            two.get(60, TimeUnit.SECONDS);
        }
        assertThatIllegalStateException().isThrownBy(agent::plugins).withMessageContaining("agent twice is closed");
    }

    @Test
    void agentThatIsClosedWithTransfersInFlightWaitsForThem() throws Exception {
        long bytes = 128L << 20;
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(bytes, 4096).fill((byte) 3);
            Agent agent = agent("flight");
            Transfer transfer = transfer(agent, memory, 1);
            transfer.post();
            agent.close();
            assertThatIllegalStateException().isThrownBy(transfer::isDone).withMessageContaining("is CLOSED");
            transfer.close();
            assertThat(folder.resolve("file1")).hasSize(bytes);
        }
    }

    @Test
    void interruptedThreadWaitsBeforeItsMemoryIsFreed() {
        long bytes = 64L << 20;
        try (Arena arena = Arena.ofShared();
                Agent agent = agent("interrupted")) {
            Transfer transfer = transfer(agent, arena.allocate(bytes, 4096), 1);
            Thread.currentThread().interrupt();
            transfer.post();
            transfer.close();
            assertThat(Thread.interrupted()).isTrue();
            assertThat(folder.resolve("file1")).hasSize(bytes);
        }
    }

    private static Agent agent(String name) {
        Agent agent = Agent.create(name, AgentConfig.DEFAULT);
        agent.createBackend("POSIX", Map.of());
        return agent;
    }

    private Transfer transfer(Agent agent, MemorySegment memory, int id) {
        Descriptors local = Descriptors.of(MemoryType.DRAM).add(memory);
        agent.register(local);
        agent.register(Descriptors.of(MemoryType.FILE)
                .addPath(id, "rw,create", folder.resolve("file" + id).toString(), 0, memory.byteSize()));
        Descriptors remote = Descriptors.of(MemoryType.FILE).addRegisteredPath(id, 0, memory.byteSize());
        return agent.transfer(Operation.WRITE, local, remote, agent.name(), TransferOptions.DEFAULT);
    }
}
