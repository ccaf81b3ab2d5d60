package io.kvtier.bindings.internal;

import io.kvtier.bindings.Hold;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Counts who is using a native resource, so that it is never freed under them. */
public final class InFlight {
    /*
     * One word:
     *
     *   bit 63       closed: nobody may enter
     *   bits 32-62   holds, which last long: close refuses
     *   bits 0-31    calls, which are short: close waits for them
     *
     * Entering is one compare-and-set, which fails once the door is closed. The closer closes the door first and looks at
     * the counts then: they can only fall, so nobody can slip in between.
     */
    private static final long CLOSED = Long.MIN_VALUE;
    private static final long HOLD = 1L << 32;
    private static final long CALLS = HOLD - 1;
    private static final long CLOSE_WAIT_NANOS = Duration.ofSeconds(10).toNanos();
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(InFlight.class, "state", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final String name;
    private volatile long state;
    private volatile @Nullable Thread closer;

    /** Creates the counts of a resource that its errors call by this name, e.g. {@code the file a.txt}. */
    public InFlight(String name) {
        this.name = name;
    }

    /**
     * Begins a call; {@link #exit} must follow.
     *
     * @throws IllegalStateException if it is closed
     */
    public void enter() {
        add(1);
    }

    /** Begins a call, {@link #exit} must follow, or returns false if it is closed. */
    public boolean tryEnter() {
        return tryAdd(1);
    }

    /** Ends a call. */
    public void exit() {
        leave(1);
    }

    /**
     * Begins a use that may last; {@link #release} must follow.
     *
     * @throws IllegalStateException if it is closed
     */
    public void hold() {
        add(HOLD);
    }

    /** Ends a use that lasted. */
    public void release() {
        leave(HOLD);
    }

    /**
     * Begins a use that lasts until the result is closed; closing that twice does nothing.
     *
     * @throws IllegalStateException if it is closed
     */
    public Hold holdUntilClosed() {
        hold();
        AtomicBoolean closed = new AtomicBoolean();
        return () -> {
            if (closed.compareAndSet(false, true)) {
                release();
            }
        };
    }

    private void add(long unit) {
        if (!tryAdd(unit)) {
            throw new IllegalStateException(name + " is closed");
        }
    }

    private boolean tryAdd(long unit) {
        long now = state;
        while (now >= 0 && !STATE.compareAndSet(this, now, now + unit)) {
            now = state;
        }
        return now >= 0;
    }

    private void leave(long unit) {
        long before = (long) STATE.getAndAdd(this, -unit);
        if (before - unit == CLOSED) {
            LockSupport.unpark(closer);
        }
    }

    /** Returns whether the door is closed, or about to be: a {@link #close} that waits may still fail. */
    public boolean isClosed() {
        return state < 0;
    }

    /**
     * Closes the door and waits up to 10 seconds for the calls inside.
     *
     * @return whether this call closed it; false if it was closed before
     * @throws IllegalStateException if there is a hold, or a call is still inside: the resource stays open
     */
    public boolean close() {
        return close(CLOSE_WAIT_NANOS);
    }

    /**
     * Closes the door and waits for the calls inside, but not longer than told. An interrupted thread waits too: whoever
     * closes frees the resource next.
     *
     * @return whether this call closed it; false if it was closed before
     * @throws IllegalStateException if there is a hold, or a call is still inside: the resource stays open
     */
    public synchronized boolean close(long waitNanos) {
        if (isClosed()) {
            return false;
        }
        closer = Thread.currentThread();
        STATE.getAndBitwiseOr(this, CLOSED);
        boolean interrupted = false;
        try {
            long deadline = System.nanoTime() + waitNanos;
            while (state != CLOSED) {
                long left = deadline - System.nanoTime();
                if ((state & ~CLOSED) >= HOLD || left <= 0) {
                    throw refusal();
                }
                LockSupport.parkNanos(this, left);
                interrupted |= Thread.interrupted();
            }
            return true;
        } finally {
            closer = null;
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Opens the door again: what {@link #close} made way for could not be done. */
    public void reopen() {
        STATE.getAndBitwiseAnd(this, ~CLOSED);
    }

    @Override
    public String toString() {
        return name;
    }

    private IllegalStateException refusal() {
        long users = (long) STATE.getAndBitwiseAnd(this, ~CLOSED) & ~CLOSED;
        return new IllegalStateException(name + " stays open: " + (users & CALLS) + " calls are inside it and "
                + users / HOLD + " holders use it; close it again when they have ended");
    }
}
