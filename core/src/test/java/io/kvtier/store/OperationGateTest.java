package io.kvtier.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.fail;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class OperationGateTest {
    private final OperationGate gate = new OperationGate();

    @Test
    void onlyTheFirstCloseClosesIt() {
        gate.enter();
        gate.exit();
        assertThat(gate.close()).isEqualTo(OperationGate.Closing.EMPTY);
        assertThat(gate.close()).isEqualTo(OperationGate.Closing.AGAIN);
    }

    @Test
    void closedGateLetsNobodyIn() {
        gate.close();
        for (int i = 0; i < 3; i++) {
            assertThatIllegalStateException().isThrownBy(gate::enter).withMessage("the cache is closed");
        }
        assertThat(gate.close()).isEqualTo(OperationGate.Closing.AGAIN);
    }

    @Test
    void closeWaitsForTheLastOneInside() throws Exception {
        gate.enter();
        gate.enter();
        CompletableFuture<OperationGate.Closing> closed = new CompletableFuture<>();
        Thread closer = Thread.ofPlatform().start(() -> closed.complete(gate.close()));
        awaitWaiting(closer);
        assertThatIllegalStateException().isThrownBy(gate::enter);
        gate.exit();
        awaitWaiting(closer);
        assertThat(closed).isNotDone();
        gate.exit();
        assertThat(closed.get()).isEqualTo(OperationGate.Closing.EMPTY);
        closer.join();
    }

    @Test
    void interruptedCloseStillWaitsAndKeepsTheInterrupt() throws Exception {
        gate.enter();
        AtomicBoolean interrupted = new AtomicBoolean();
        Thread closer = Thread.ofPlatform().start(() -> {
            gate.close();
            interrupted.set(Thread.currentThread().isInterrupted());
        });
        awaitWaiting(closer);
        closer.interrupt();
        assertThat(closer.join(Duration.ofMillis(50))).isFalse();
        gate.exit();
        closer.join();
        assertThat(interrupted).isTrue();
        assertThatIllegalStateException().isThrownBy(gate::enter);
    }

    @Test
    void nobodyIsInsideAfterClose() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger entered = new AtomicInteger();
        Thread[] threads = new Thread[3];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = Thread.ofPlatform().start(() -> enterUntilClosed(inside, entered));
        }
        while (entered.get() < 1000) {
            Thread.onSpinWait();
        }
        assertThat(gate.close()).isEqualTo(OperationGate.Closing.EMPTY);
        assertThat(inside).hasValue(0);
        for (Thread thread : threads) {
            thread.join();
        }
    }

    static void awaitWaiting(Thread thread) {
        long deadline = System.nanoTime() + 10_000_000_000L;
        while (thread.getState() != Thread.State.TIMED_WAITING) {
            if (System.nanoTime() > deadline) {
                fail("thread is " + thread.getState() + ", not waiting");
            }
            Thread.onSpinWait();
        }
    }

    private void enterUntilClosed(AtomicInteger inside, AtomicInteger entered) {
        while (true) {
            try {
                gate.enter();
            } catch (IllegalStateException closed) {
                return;
            }
            inside.incrementAndGet();
            entered.incrementAndGet();
            inside.decrementAndGet();
            gate.exit();
        }
    }
}
