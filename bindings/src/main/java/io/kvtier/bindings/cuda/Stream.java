package io.kvtier.bindings.cuda;

import io.kvtier.bindings.Hold;
import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.cuda.generated.CudaApi;
import io.kvtier.bindings.internal.Backoff;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A queue of work for a device: what is put on it runs in order, at some later time, beside what other streams do. Safe
 * for all threads. Who creates it closes it; {@link Copies} and {@link CopyBatch} put work on it.
 */
public final class Stream implements AutoCloseable {
    /*
     * Each call holds `guard` and selects the stream's device. close() shuts the guard first, so no work can come, and then
     * polls until the stream is empty: a stream that is closed has no work left, and memory that it used may go
     * (StreamUses). The runtime could destroy a busy stream, but then nothing could be asked about its work any more.
     */
    private static final String KIND = "cuda.stream";

    private final Device device;
    private final MemorySegment handle;
    private final Guard guard;

    private Stream(Device device, MemorySegment handle) {
        this.device = device;
        this.handle = handle;
        this.guard = new Guard("stream", device);
        NativeHandles.opened(KIND);
    }

    /**
     * Creates a stream that never waits for the default stream.
     *
     * @throws IllegalStateException if CUDA cannot be used here
     * @throws CudaException if the runtime refuses
     */
    public static Stream create(Device device) {
        Cuda.require();
        return new Stream(
                device,
                device.askPointer(
                        "cudaStreamCreateWithFlags",
                        device.toString(),
                        out -> CudaApi.cudaStreamCreateWithFlags(out, CudaApi.cudaStreamNonBlocking())));
    }

    /**
     * Creates a stream that never waits for the default stream, with a priority.
     *
     * @throws IllegalArgumentException if the device has no such priority, see {@link Device#streamPriorities}
     * @throws IllegalStateException if CUDA cannot be used here
     * @throws CudaException if the runtime refuses
     */
    public static Stream create(Device device, int priority) {
        StreamPriorities range = device.streamPriorities();
        if (priority > range.least() || priority < range.greatest()) {
            throw new IllegalArgumentException("a stream of " + device + " may have a priority from " + range.least()
                    + " to " + range.greatest() + ", got " + priority);
        }
        return new Stream(
                device,
                device.askPointer(
                        "cudaStreamCreateWithPriority",
                        device + ", priority " + priority,
                        out -> CudaApi.cudaStreamCreateWithPriority(out, CudaApi.cudaStreamNonBlocking(), priority)));
    }

    /** Returns the device that the stream is for. */
    public Device device() {
        return device;
    }

    /**
     * Returns the {@code cudaStream_t}, for other native libraries. They must not destroy it, and not use it when it is
     * closed.
     *
     * @throws IllegalStateException if the stream is closed
     */
    public MemorySegment handle() {
        if (guard.isClosed()) {
            throw guard.closed();
        }
        return handle;
    }

    /**
     * Keeps the stream open until the result is closed, for other native libraries that know its {@link #handle}.
     *
     * @throws IllegalStateException if the stream is closed
     */
    public Hold hold() {
        return guard.hold();
    }

    /**
     * Asks once whether all work is done.
     *
     * @throws CudaException if work failed
     */
    public boolean isDone() {
        enter();
        try {
            return query();
        } finally {
            exit();
        }
    }

    /**
     * Waits, for as long as it takes, until all work is done. Blocks: call it on a platform thread, or use
     * {@link #await}.
     *
     * @throws CudaException if work failed
     */
    public void synchronize() {
        enter();
        try {
            CudaStatus.check("cudaStreamSynchronize", CudaApi.cudaStreamSynchronize(handle), this);
        } finally {
            exit();
        }
    }

    /**
     * Polls, with growing pauses, until all work is done or the time is over; also ends when the thread is interrupted.
     *
     * @return whether all work is done
     * @throws CudaException if work failed
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
     * Lets work that follows wait for an event, of any device. One that was never recorded counts as done.
     *
     * @throws CudaException if the runtime refuses
     */
    public void waitFor(Event event) {
        event.enter();
        try {
            enter();
            try {
                CudaStatus.check("cudaStreamWaitEvent", CudaApi.cudaStreamWaitEvent(handle, event.handle(), 0), this);
            } finally {
                exit();
            }
        } finally {
            event.exit();
        }
    }

    /**
     * Waits up to 10 seconds until all work is done, and destroys the stream. Closing twice does nothing.
     *
     * @throws IllegalStateException if there is still work then, another thread is in a call or there is a {@link #hold}:
     *     the stream stays open; close it again later
     * @throws CudaException if the runtime cannot tell whether work is done, and then the stream stays open; or if the
     *     context is lost or the runtime tells of an earlier error, and then it is closed nevertheless
     */
    @Override
    public synchronized void close() {
        if (guard.isClosed()) {
            return;
        }
        long deadline = Backoff.deadline(Guard.CLOSE_WAIT);
        guard.shut(deadline);
        CudaException failed = emptyOrReopen(deadline);
        guard.end();
        NativeHandles.closed(KIND);
        device.tryUse();
        int status = CudaApi.cudaStreamDestroy(handle);
        if (failed != null) {
            throw failed;
        }
        CudaStatus.check("cudaStreamDestroy", status, this);
    }

    /** Returns whether {@link #close} destroyed the stream, or had to give it up. */
    public boolean isClosed() {
        return guard.isClosed();
    }

    @Override
    public String toString() {
        return guard.toString();
    }

    /** Lets a call in: the stream stays open until {@link #exit}, and its device is selected on this thread. */
    void enter() {
        guard.enterOnDevice();
    }

    /** Like {@link #enter}, but returns false if the stream is closed or another thread is about to close it. */
    boolean tryEnter() {
        return guard.tryEnterOnDevice();
    }

    void exit() {
        guard.exit();
    }

    /** Waits until the work that the stream has now is done, whatever comes after it; false if the time is over. */
    boolean awaitPresentWork(long deadline) {
        // While another thread is about to close the stream, it cannot be entered; then it is closed, or open again.
        if (!Backoff.until(() -> tryEnter() || guard.isClosed(), deadline)) {
            return false;
        }
        if (guard.isClosed()) {
            return true;
        }
        try {
            return query() || awaitEvent(deadline);
        } finally {
            exit();
        }
    }

    /** Lets this stream wait for the work that another one has now; false if that one is just being closed. */
    boolean follow(Stream other) {
        if (!other.tryEnter()) {
            return other.isClosed();
        }
        try (Event end = Event.create(other.device)) {
            end.record(other);
            waitFor(end);
            return true;
        } finally {
            other.exit();
        }
    }

    private boolean awaitEvent(long deadline) {
        try (Event end = Event.create(device)) {
            end.record(this);
            return Backoff.until(end::isDone, deadline);
        }
    }

    private boolean query() {
        return CudaStatus.isDone("cudaStreamQuery", CudaApi.cudaStreamQuery(handle), this);
    }

    /** Waits until the stream has no work; returns the loss of the context, which ends all work. */
    private @Nullable CudaException emptyOrReopen(long deadline) {
        boolean empty = false;
        try {
            empty = Backoff.until(this::queryOnDevice, deadline);
            if (!empty) {
                throw guard.stillInUse("its work");
            }
            return null;
        } catch (CudaException e) {
            empty = e.isContextLost();
            if (!empty) {
                throw e;
            }
            return e;
        } finally {
            if (!empty) {
                guard.reopen();
            }
        }
    }

    private boolean queryOnDevice() {
        // A virtual thread that paused may be on another thread of the operating system.
        device.tryUse();
        return query();
    }
}
