package io.kvtier.bindings.internal;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * How to poll what native code offers no wait for: a short spin, then pauses that grow up to half a millisecond. Without
 * state, so that polling allocates nothing:
 *
 * <pre>{@code
 * long deadline = Backoff.deadline(timeout);
 * for (int polls = 0; !isDone(); polls++) {
 *     if (!Backoff.pause(polls, deadline)) {
 *         return false;
 *     }
 * }
 * }</pre>
 */
public final class Backoff {
    private static final int POLLS_WITHOUT_PAUSE = 64;
    private static final long FIRST_PAUSE_NANOS = 2_000;
    private static final long LONGEST_PAUSE_NANOS = 500_000;
    private static final int MOST_DOUBLINGS = 8;
    private static final Duration LONGEST = Duration.ofDays(365);

    private Backoff() {}

    /** Returns when a timeout that begins now is over, on the clock of {@link System#nanoTime}; at most a year away. */
    public static long deadline(Duration timeout) {
        return System.nanoTime() + (timeout.compareTo(LONGEST) > 0 ? LONGEST : timeout).toNanos();
    }

    /**
     * Waits before the next poll.
     *
     * @param polls how many polls were made without success before the last one
     * @return false, without a pause, if the time is over or the thread is interrupted
     */
    public static boolean pause(int polls, long deadline) {
        long left = deadline - System.nanoTime();
        if (left <= 0 || Thread.currentThread().isInterrupted()) {
            return false;
        }
        if (polls < POLLS_WITHOUT_PAUSE) {
            Thread.onSpinWait();
        } else {
            LockSupport.parkNanos(Math.min(left, pauseNanos(polls)));
        }
        return true;
    }

    /**
     * Polls until something is done or the time is over; an interrupted thread goes on and keeps its interrupt. For what
     * closes things, since whoever closes frees memory next.
     *
     * @return whether it is done
     */
    public static boolean until(BooleanSupplier done, long deadline) {
        boolean interrupted = false;
        try {
            for (int polls = 0; !done.getAsBoolean(); polls++) {
                interrupted |= Thread.interrupted();
                if (!pause(polls, deadline) && System.nanoTime() - deadline >= 0) {
                    return false;
                }
            }
            return true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Returns how long the pause after a poll is. */
    static long pauseNanos(int polls) {
        if (polls < POLLS_WITHOUT_PAUSE) {
            return 0;
        }
        return Math.min(
                FIRST_PAUSE_NANOS << Math.min(polls - POLLS_WITHOUT_PAUSE, MOST_DOUBLINGS), LONGEST_PAUSE_NANOS);
    }
}
