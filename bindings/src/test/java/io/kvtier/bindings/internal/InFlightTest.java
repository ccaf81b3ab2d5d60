package io.kvtier.bindings.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class InFlightTest {
    private static final long MINUTE = TimeUnit.SECONDS.toNanos(60);

    @Test
    void closeWaitsForTheCallInside() throws Exception {
        InFlight users = new InFlight("thing");
        users.enter();
        Thread closer = Thread.ofPlatform().start(() -> users.close(MINUTE));
        awaitWaiting(closer);
        assertThatThrownBy(users::enter)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("thing is closed");
        assertThat(users.tryEnter()).isFalse();
        assertThatThrownBy(users::hold).hasMessage("thing is closed");
        users.exit();
        closer.join(60_000);
        assertThat(closer.isAlive()).isFalse();
        assertThat(users.isClosed()).isTrue();
        assertThat(users.close(0)).isFalse();
    }

    @Test
    void closeGivesUpAndTheThingStaysOpen() {
        InFlight users = new InFlight("thing");
        users.enter();
        assertThatThrownBy(() -> users.close(TimeUnit.MILLISECONDS.toNanos(10)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("1 calls are inside it and 0 holders");
        users.hold();
        users.enter();
        assertThatThrownBy(() -> users.close(MINUTE))
                .as("at once, for a holder")
                .hasMessageContaining("2 calls are inside it and 1 holders");
        users.exit();
        users.exit();
        users.release();
        assertThat(users.close()).isTrue();
    }

    @Test
    void interruptedCloserGoesOnWaitingAndKeepsTheInterrupt() throws Exception {
        InFlight users = new InFlight("thing");
        users.enter();
        AtomicInteger interrupts = new AtomicInteger();
        Thread closer = Thread.ofPlatform().start(() -> {
            users.close(MINUTE);
            interrupts.set(Thread.currentThread().isInterrupted() ? 1 : -1);
        });
        awaitWaiting(closer);
        closer.interrupt();
        users.exit();
        closer.join(60_000);
        assertThat(interrupts).hasValue(1);
        assertThat(users.isClosed()).isTrue();
    }

    @Test
    void refusedCloserKeepsTheInterrupt() {
        InFlight users = new InFlight("thing");
        users.enter();
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> users.close(TimeUnit.MILLISECONDS.toNanos(10)))
                .hasMessageContaining("1 calls are inside");
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void reopenedAfterCloseItLetsCallsInAgain() {
        InFlight users = new InFlight("thing");
        assertThat(users.close()).isTrue();
        assertThat(users.tryEnter()).isFalse();
        users.reopen();
        assertThat(users.isClosed()).isFalse();
        assertThat(users.tryEnter()).isTrue();
        users.exit();
        assertThat(users.close()).isTrue();
        assertThat(users).hasToString("thing");
    }

    @Test
    void nobodyIsInsideWhatAnyOfManyClosersClosed() throws Exception {
        InFlight users = new InFlight("thing");
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger wrong = new AtomicInteger();
        AtomicInteger closings = new AtomicInteger();
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(500);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            threads.add(Thread.ofPlatform().start(() -> {
                while (System.nanoTime() < end) {
                    if (users.tryEnter()) {
                        inside.incrementAndGet();
                        Thread.onSpinWait();
                        inside.decrementAndGet();
                        users.exit();
                    }
                }
            }));
        }
        for (int i = 0; i < 2; i++) {
            threads.add(Thread.ofPlatform().start(() -> {
                while (System.nanoTime() < end) {
                    if (users.close(MINUTE)) {
                        wrong.addAndGet(inside.get());
                        closings.incrementAndGet();
                        users.reopen();
                    }
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join(60_000);
            assertThat(thread.isAlive()).isFalse();
        }
        assertThat(wrong).hasValue(0);
        assertThat(closings).hasPositiveValue();
        assertThat(users.close(0)).isTrue();
    }

    private static void awaitWaiting(Thread thread) {
        long deadline = System.nanoTime() + MINUTE;
        while (thread.getState() != Thread.State.TIMED_WAITING) {
            assertThat(System.nanoTime()).isLessThan(deadline);
            Thread.onSpinWait();
        }
    }
}
