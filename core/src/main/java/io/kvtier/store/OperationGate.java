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

    /** Closes the gate and waits, a bounded time, for those inside; returns whether this call closed it. */
    boolean close() {
        long before = state.getAndUpdate(value -> value | CLOSED);
        if ((before & CLOSED) != 0) {
            return false;
        }
        lock.lock();
        try {
            long left = TimeUnit.SECONDS.toNanos(WAIT_SECONDS);
            while (state.get() != CLOSED && left > 0) {
                left = empty.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
        }
        return true;
    }
}
