package io.kvtier.bindings.nixl;

import io.kvtier.bindings.NativeHandles;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * One transfer: created, posted, and polled until it is done. It may be posted again when it is done. The memory and
 * files that it uses must stay open until then, whatever happens. For one thread at a time.
 *
 * <p>A status of "done" is NIXL's word only: some plugins call a short read done. Whoever needs the bytes to be right
 * checks them.
 */
public final class Transfer implements AutoCloseable {
    private static final String KIND = "nixl.transfer";
    private static final long CLOSE_WAIT_NANOS = Duration.ofSeconds(10).toNanos();
    private static final int POLLS_WITHOUT_PAUSE = 64;
    private static final long FIRST_PAUSE_NANOS = 2_000;
    private static final long LONGEST_PAUSE_NANOS = 500_000;

    private enum State {
        CREATED,
        IN_PROGRESS,
        DONE,
        FAILED,
        CLOSED
    }

    private final Agent agent;
    private final MemorySegment handle;
    private final List<Descriptors> used;
    private State state = State.CREATED;

    Transfer(Agent agent, MemorySegment handle, List<Descriptors> used) {
        this.agent = agent;
        this.handle = handle;
        this.used = used;
        NativeHandles.opened(KIND);
    }

    /**
     * Starts the transfer. It may be done, or even blocked until it was, when the call returns.
     *
     * @throws IllegalStateException if it is in progress or closed, or memory that it uses was closed
     * @throws NixlException if NIXL refuses it
     */
    public void post() {
        require(State.CREATED, State.DONE);
        used.forEach(Descriptors::requireAlive);
        state = State.IN_PROGRESS;
        settle("post_xfer_req", agent.post(handle));
    }

    /**
     * Asks once whether the transfer is done.
     *
     * @throws IllegalStateException if it was not posted
     * @throws NixlException if it failed
     */
    public boolean isDone() {
        if (state == State.IN_PROGRESS) {
            settle("get_xfer_status", agent.status(handle));
        } else {
            require(State.DONE);
        }
        return state == State.DONE;
    }

    /**
     * Waits until the transfer is done or the time is over. Polls, since NIXL has no other way, with growing pauses.
     *
     * @return whether it is done; if not, it goes on
     * @throws NixlException if it failed
     */
    public boolean await(Duration timeout) {
        long deadline = System.nanoTime() + timeout.toNanos();
        long pause = FIRST_PAUSE_NANOS;
        for (int polls = 0; !isDone(); polls++) {
            if (System.nanoTime() - deadline >= 0 || Thread.currentThread().isInterrupted()) {
                return false;
            }
            if (polls >= POLLS_WITHOUT_PAUSE) {
                LockSupport.parkNanos(pause);
                pause = Math.min(2 * pause, LONGEST_PAUSE_NANOS);
            }
        }
        return true;
    }

    /**
     * Waits up to 10 seconds for a transfer in progress and frees the request. Closing twice does nothing.
     *
     * @throws IllegalStateException if the transfer is still in progress then: its memory must stay open; close it again
     *     later
     */
    @Override
    public void close() {
        if (!tryClose(CLOSE_WAIT_NANOS)) {
            throw new IllegalStateException(
                    "the transfer is still in progress; its memory must stay open until a later" + " close succeeds");
        }
    }

    /** Frees the request, unless the transfer is still in progress after a wait. */
    boolean tryClose(long waitNanos) {
        if (state == State.CLOSED) {
            return true;
        }
        if (state == State.IN_PROGRESS && !settlesWithin(waitNanos)) {
            return false;
        }
        state = State.CLOSED;
        NativeHandles.closed(KIND);
        agent.free(this, handle);
        return true;
    }

    private boolean settlesWithin(long waitNanos) {
        try {
            return await(Duration.ofNanos(waitNanos));
        } catch (NixlException e) {
            // A failed transfer is no longer in progress.
            return true;
        }
    }

    private void settle(String function, int status) {
        if (status == NixlStatus.IN_PROGRESS) {
            return;
        }
        state = status == NixlStatus.SUCCESS ? State.DONE : State.FAILED;
        NixlStatus.check(function, status, "transfer of agent " + agent.name());
    }

    private void require(State... allowed) {
        for (State candidate : allowed) {
            if (state == candidate) {
                return;
            }
        }
        throw new IllegalStateException("the transfer is " + state + ", it must be " + List.of(allowed));
    }
}
