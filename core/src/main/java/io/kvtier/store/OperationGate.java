package io.kvtier.store;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** Lets operations in until it is closed, and lets close wait until the last one has left. */
final class OperationGate {
    private static final long CLOSED = 1L << 62;
    private static final long WAIT_SECONDS = 30;

    // Operations inside; CLOSED is added once.
    private final AtomicLong state = new AtomicLong();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition empty = lock.newCondition();

    void enter() {
        if (state.incrementAndGet() >= CLOSED) {
            exit();
            throw new IllegalStateException("the cache is closed");
        }
    }

    void exit() {
        if (state.decrementAndGet() == CLOSED) {
            lock.lock();
            try {
                empty.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }

    /** What became of closing. */
    enum Closing {
        /** Nobody is inside any more. */
        EMPTY,
        /** Some are still inside after the longest wait. */
        BUSY,
        /** It was closed before. */
        AGAIN
    }

    /** Closes the gate and waits, a bounded time, for those inside; an interrupt does not cut the wait short. */
    Closing close() {
        long before = state.getAndUpdate(value -> value | CLOSED);
        if ((before & CLOSED) != 0) {
            return Closing.AGAIN;
        }
        boolean interrupted = false;
        lock.lock();
        try {
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
            while (state.get() != CLOSED && System.nanoTime() - deadline < 0) {
                try {
                    long left = empty.awaitNanos(deadline - System.nanoTime());
                    assert left <= TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
            return state.get() == CLOSED ? Closing.EMPTY : Closing.BUSY;
        } finally {
            lock.unlock();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
