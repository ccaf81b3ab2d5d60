package io.kvtier.bindings.cuda;

import io.kvtier.bindings.cuda.generated.CudaApi;
import io.kvtier.bindings.internal.Backoff;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/** Keeps a handle from being closed under a call that uses it, and from being used when it is closed. */
final class Guard {
    /*
     * `state` counts the calls inside, of any threads. Closing goes from 0 to SHUT in one step, so a call either keeps the
     * handle open or sees that it is not. Whoever shut it then finds out whether native code has done with the handle, and
     * either reopens it or ends it for good. SHUT does not say that work is over, CLOSED does.
     */
    static final Duration CLOSE_WAIT = Duration.ofSeconds(10);
    private static final int SHUT = -1;
    private static final int CLOSED = -2;

    private final String kind;
    private final Device device;
    private final AtomicInteger state = new AtomicInteger();

    Guard(String kind, Device device) {
        this.kind = kind;
        this.device = device;
    }

    /**
     * Lets a call in; {@link #exit} must follow.
     *
     * @throws IllegalStateException if the handle is closed
     */
    void enter() {
        if (!tryEnter()) {
            throw closed();
        }
    }

    /** Lets a call in and selects the device of the handle on this thread of the operating system. */
    void enterOnDevice() {
        enter();
        selectOrExit();
    }

    /** Like {@link #enterOnDevice}, but returns false if the handle is closed. */
    boolean tryEnterOnDevice() {
        if (!tryEnter()) {
            return false;
        }
        selectOrExit();
        return true;
    }

    void exit() {
        state.decrementAndGet();
    }

    /** Returns whether the handle is gone for good. */
    boolean isClosed() {
        return state.get() == CLOSED;
    }

    /**
     * Lets no more calls in, as soon as none is inside.
     *
     * @throws IllegalStateException if one stays until the deadline; the handle stays open
     */
    void shut(long deadline) {
        for (int polls = 0; !state.compareAndSet(0, SHUT); polls++) {
            if (!Backoff.pause(polls, deadline)) {
                throw stillInUse("another thread's call");
            }
        }
    }

    /** Undoes {@link #shut}. */
    void reopen() {
        state.set(0);
    }

    /** Follows {@link #shut} when nothing uses the handle any more. */
    void end() {
        state.set(CLOSED);
    }

    IllegalStateException closed() {
        return new IllegalStateException("the " + this + " is closed");
    }

    /** Returns the exception for a close that cannot be. */
    IllegalStateException stillInUse(String user) {
        return new IllegalStateException(
                "the " + this + " is still in use by " + user + " after " + CLOSE_WAIT.toSeconds()
                        + " seconds, or the thread was interrupted; it stays open, close it again later");
    }

    @Override
    public String toString() {
        return kind + " of " + device;
    }

    private boolean tryEnter() {
        int now = state.get();
        while (now >= 0 && !state.compareAndSet(now, now + 1)) {
            now = state.get();
        }
        return now >= 0;
    }

    private void selectOrExit() {
        int status = CudaApi.cudaSetDevice(device.ordinal());
        if (status != CudaStatus.SUCCESS) {
            exit();
            throw CudaStatus.failure("cudaSetDevice", status, device.toString());
        }
    }
}
