package io.kvtier.bindings.cuda;

import io.kvtier.bindings.Hold;
import io.kvtier.bindings.cuda.generated.CudaApi;
import io.kvtier.bindings.internal.InFlight;
import java.time.Duration;

/** Keeps a handle from being closed under a call that uses it, and from being used when it is closed. */
final class Guard {
    /*
     * `users` counts the calls inside, of any threads; a call either keeps the handle open or is not let in. Whoever shut the
     * handle finds out whether native code has done with it, and either reopens it or ends it for good. That nobody is let in
     * does not say that work is over, `ended` does.
     */
    static final Duration CLOSE_WAIT = Duration.ofSeconds(10);

    private final String name;
    private final Device device;
    private final InFlight users;
    private volatile boolean ended;

    Guard(String kind, Device device) {
        this.name = kind + " of " + device;
        this.device = device;
        this.users = new InFlight("the " + name);
    }

    /**
     * Lets a call in; {@link #exit} must follow.
     *
     * @throws IllegalStateException if the handle is closed
     */
    void enter() {
        users.enter();
    }

    /** Lets a call in and selects the device of the handle on this thread of the operating system. */
    void enterOnDevice() {
        enter();
        selectOrExit();
    }

    /** Like {@link #enterOnDevice}, but returns false if the handle is closed. */
    boolean tryEnterOnDevice() {
        if (!users.tryEnter()) {
            return false;
        }
        selectOrExit();
        return true;
    }

    void exit() {
        users.exit();
    }

    /** Keeps the handle open until the result is closed. */
    Hold hold() {
        return users.holdUntilClosed();
    }

    /** Returns whether the handle is gone for good. */
    boolean isClosed() {
        return ended;
    }

    /**
     * Lets no more calls in and waits until none is inside.
     *
     * @throws IllegalStateException if one stays until the deadline, or there is a hold; the handle stays open
     */
    void shut(long deadline) {
        users.close(deadline - System.nanoTime());
    }

    /** Undoes {@link #shut}. */
    void reopen() {
        users.reopen();
    }

    /** Follows {@link #shut} when nothing uses the handle any more. */
    void end() {
        ended = true;
    }

    IllegalStateException closed() {
        return new IllegalStateException(users + " is closed");
    }

    /** Returns the exception for a close that cannot be. */
    IllegalStateException stillInUse(String user) {
        return new IllegalStateException(users + " is still in use by " + user + " after " + CLOSE_WAIT.toSeconds()
                + " seconds; it stays open, close it again later");
    }

    @Override
    public String toString() {
        return name;
    }

    private void selectOrExit() {
        int status = CudaApi.cudaSetDevice(device.ordinal());
        if (status != CudaStatus.SUCCESS) {
            exit();
            throw CudaStatus.failure("cudaSetDevice", status, device.toString());
        }
    }
}
