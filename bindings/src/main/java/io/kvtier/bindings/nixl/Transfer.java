package io.kvtier.bindings.nixl;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.internal.Backoff;
import io.kvtier.bindings.nixl.generated.NixlApi;
import io.kvtier.bindings.nixl.generated.nixl_capi_xfer_telemetry_s;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * One transfer: created, posted, and polled until it is done. It may be posted again when it is done. The memory and
 * files that it uses must stay open until then, whatever happens. For one thread at a time; only {@link #close} may come
 * from another.
 *
 * <p>A status of "done" is NIXL's word, but a file that is too short for what was read or written is noticed here. What
 * else a plugin may call done, e.g. an object shorter than the read, only a checksum tells.
 */
public final class Transfer implements AutoCloseable {
    /*
     * `user` is taken for each operation: a request that two threads use at once corrupts native memory. What a thread
     * wrote before it gave `user` back is seen by the next one. close() waits until nobody uses it, others wait for the few
     * calls of close(), all else refuses.
     *
     * LOST: NIXL has forgotten the other agent and does not tell any more whether the request still runs. As it may, its
     * memory must stay: such a transfer cannot be closed.
     */
    private static final String KIND = "nixl.transfer";
    static final Duration CLOSE_WAIT = Duration.ofSeconds(10);

    private static final int NOBODY = 0;
    private static final int CALLER = 1;
    private static final int CLOSER = 2;

    private enum State {
        CREATED,
        IN_PROGRESS,
        DONE,
        FAILED,
        LOST,
        CLOSED
    }

    private final Transfers owner;
    private final AgentHandle agent;
    private final MemorySegment request;
    private final Transfers.Sides sides;
    private final @Nullable Backend backend;
    private final FileExtents files;
    private final AtomicInteger user = new AtomicInteger(NOBODY);
    private volatile State state = State.CREATED;

    Transfer(
            Transfers owner,
            AgentHandle agent,
            MemorySegment request,
            Transfers.Sides sides,
            @Nullable Backend backend,
            FileExtents files) {
        this.owner = owner;
        this.agent = agent;
        this.request = request;
        this.sides = sides;
        this.backend = backend;
        this.files = files;
        NativeHandles.opened(KIND);
    }

    /** Returns the backend that makes the transfer; empty if NIXL does not tell. */
    public Optional<Backend> backend() {
        return Optional.ofNullable(backend);
    }

    /**
     * Starts the transfer. It may be done, or even blocked until it was, when the call returns.
     *
     * @throws IllegalStateException if it is in progress, failed or closed, memory that it uses was closed, or the backend
     *     has too many descriptors in flight; it may be posted again then
     * @throws NixlException if NIXL refuses it, or a file ends before the read
     */
    public void post() {
        take();
        try {
            post(MemorySegment.NULL);
        } finally {
            user.set(NOBODY);
        }
    }

    /**
     * Starts the transfer like {@link #post()}, with a message that the remote agent gets when it is done, in place of an
     * earlier one.
     *
     * @throws IllegalArgumentException if the message is empty
     */
    public void post(byte[] notification) {
        TransferOptions options = TransferOptions.DEFAULT.withNotification(notification);
        take();
        try {
            NativeLists.withOptionsOnly(options, args -> {
                post(args);
                return sides;
            });
        } finally {
            user.set(NOBODY);
        }
    }

    private void post(MemorySegment options) {
        if (state != State.CREATED && state != State.DONE) {
            throw wrongState("CREATED or DONE");
        }
        sides.local().requireAlive();
        sides.remote().requireAlive();
        if (sides.operation() == Operation.READ) {
            files.check("post_xfer_req", Operation.READ);
        }
        if (backend != null) {
            backend.admit(sides.descriptors());
        }
        state = State.IN_PROGRESS;
        settle("post_xfer_req", call(options));
    }

    private int call(MemorySegment options) {
        long stamp = agent.enter();
        try {
            return NixlApi.nixl_capi_post_xfer_req(agent.address(), request, options);
        } finally {
            agent.exit(stamp);
        }
    }

    /**
     * Asks once whether the transfer is done.
     *
     * @throws IllegalStateException if it was not posted
     * @throws NixlException if it failed
     */
    public boolean isDone() {
        take();
        try {
            return poll();
        } finally {
            user.set(NOBODY);
        }
    }

    private boolean poll() {
        if (state == State.IN_PROGRESS) {
            settle("get_xfer_status", status());
        } else if (state != State.DONE) {
            throw wrongState("IN_PROGRESS or DONE");
        }
        return state == State.DONE;
    }

    private int status() {
        long stamp = agent.enter();
        try {
            return NixlApi.nixl_capi_get_xfer_status(agent.address(), request);
        } finally {
            agent.exit(stamp);
        }
    }

    /**
     * Waits until the transfer is done or the time is over. Polls, since NIXL has no other way, with growing pauses.
     *
     * @return whether it is done; if not, or the thread was interrupted, it goes on
     * @throws NixlException if it failed
     */
    public boolean await(Duration timeout) {
        long deadline = Backoff.deadline(timeout);
        for (int polls = 0; !isDone(); polls++) {
            if (!Backoff.pause(polls, deadline)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns what NIXL measured; empty if it does not, see {@link AgentConfig#withTelemetry}.
     *
     * @throws IllegalStateException if the transfer is not done
     */
    public Optional<TransferTelemetry> telemetry() {
        return whileTaken(() -> {
            if (state != State.DONE) {
                throw wrongState("DONE");
            }
            return agent.call((handle, arena) -> {
                MemorySegment out = arena.allocate(nixl_capi_xfer_telemetry_s.layout());
                int status = NixlApi.nixl_capi_get_xfer_telemetry(handle, request, out);
                if (status == NixlStatus.NO_TELEMETRY) {
                    return Optional.empty();
                }
                NixlStatus.check("get_xfer_telemetry", status, describe());
                return Optional.of(telemetry(out));
            });
        });
    }

    private static TransferTelemetry telemetry(MemorySegment values) {
        return new TransferTelemetry(
                TimeUnit.MICROSECONDS.toNanos(nixl_capi_xfer_telemetry_s.start_time_us(values)),
                micros(nixl_capi_xfer_telemetry_s.post_duration_us(values)),
                micros(nixl_capi_xfer_telemetry_s.xfer_duration_us(values)),
                nixl_capi_xfer_telemetry_s.total_bytes(values),
                nixl_capi_xfer_telemetry_s.desc_count(values));
    }

    /**
     * Returns what the backend expects the transfer to cost; empty if it cannot tell.
     *
     * @throws IllegalStateException if the transfer is closed
     */
    public Optional<CostEstimate> estimate() {
        return whileTaken(() -> agent.call((handle, arena) -> {
            MemorySegment duration = arena.allocate(JAVA_LONG);
            MemorySegment margin = arena.allocate(JAVA_LONG);
            int status = NixlApi.nixl_capi_estimate_xfer_cost(
                    handle, request, MemorySegment.NULL, duration, margin, arena.allocate(JAVA_INT));
            if (status == NixlStatus.BACKEND) {
                // The outputs are garbage then.
                return Optional.empty();
            }
            NixlStatus.check("estimate_xfer_cost", status, describe());
            return Optional.of(new CostEstimate(micros(duration.get(JAVA_LONG, 0)), micros(margin.get(JAVA_LONG, 0))));
        }));
    }

    private static Duration micros(long micros) {
        return Duration.of(micros, ChronoUnit.MICROS);
    }

    /**
     * Waits up to 10 seconds for a transfer in progress and frees the request. Closing twice does nothing.
     *
     * @throws IllegalStateException if the transfer is still in progress then: its memory must stay open; close it again
     *     later
     */
    @Override
    public void close() {
        if (!tryClose(Backoff.deadline(CLOSE_WAIT))) {
            throw new IllegalStateException(
                    describe() + " is still in progress; its memory must stay open until a" + " later close succeeds");
        }
    }

    /**
     * Frees the request, unless the transfer is still in progress, or in another thread's hands, at the deadline. An
     * interrupted thread waits too: whoever closes frees the memory next.
     */
    boolean tryClose(long deadline) {
        return Backoff.until(this::closedNow, deadline);
    }

    private boolean closedNow() {
        if (state == State.CLOSED) {
            return true;
        }
        if (!user.compareAndSet(NOBODY, CLOSER)) {
            return false;
        }
        try {
            if (isUnsettled()) {
                return false;
            }
            free();
            return true;
        } finally {
            user.set(NOBODY);
        }
    }

    /** Polls once more; a failed transfer is no longer in progress. */
    private boolean isUnsettled() {
        if (state == State.IN_PROGRESS) {
            try {
                return !poll();
            } catch (NixlException e) {
                return state == State.LOST;
            }
        }
        return state == State.LOST;
    }

    private void free() {
        if (state == State.CLOSED) {
            return;
        }
        state = State.CLOSED;
        NativeHandles.closed(KIND);
        agent.run((handle, _) -> {
            int released = NixlApi.nixl_capi_release_xfer_req(handle, request);
            NixlApi.nixl_capi_destroy_xfer_req(request);
            owner.forget(this);
            NixlStatus.check("release_xfer_req", released, describe());
        });
    }

    Transfers.Sides sides() {
        return sides;
    }

    boolean isInProgress() {
        return state == State.IN_PROGRESS || state == State.LOST;
    }

    private void settle(String function, int status) {
        if (status == NixlStatus.IN_PROGRESS) {
            return;
        }
        if (status == NixlStatus.NOT_FOUND && function.equals("get_xfer_status")) {
            state = State.LOST;
        } else {
            state = State.FAILED;
            if (backend != null) {
                backend.settle(sides.descriptors());
            }
        }
        if (status != NixlStatus.SUCCESS) {
            throw new NixlException(function, status, describe());
        }
        files.check(function, sides.operation());
        state = State.DONE;
    }

    private interface Question<R> {
        R ask();
    }

    private <R> R whileTaken(Question<R> question) {
        take();
        try {
            if (state == State.CLOSED) {
                throw wrongState("open");
            }
            return question.ask();
        } finally {
            user.set(NOBODY);
        }
    }

    private void take() {
        while (!user.compareAndSet(NOBODY, CALLER)) {
            if (user.get() == CALLER) {
                throw usedTwice();
            }
            Thread.onSpinWait();
        }
    }

    private IllegalStateException usedTwice() {
        return new IllegalStateException(describe() + " is used by two threads at once; it is for one at a time");
    }

    private IllegalStateException wrongState(String required) {
        return new IllegalStateException(describe() + " is " + state + ", it must be " + required);
    }

    private String describe() {
        return "the " + sides.operation() + " transfer of agent " + agent.name() + " with " + sides.remoteAgent();
    }
}
