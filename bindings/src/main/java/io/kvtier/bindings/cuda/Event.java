package io.kvtier.bindings.cuda;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;

import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.cuda.generated.CudaApi;
import io.kvtier.bindings.cuda.generated.cudaIpcEventHandle_st;
import io.kvtier.bindings.internal.Backoff;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;

/**
 * A mark in the work of a stream: recorded there, and done when the stream gets there. It may be recorded again, and then
 * stands for the newest mark. Safe for all threads. Who creates it closes it.
 */
public final class Event implements AutoCloseable {
    private static final String KIND = "cuda.event";

    private final Device device;
    private final MemorySegment handle;
    private final Set<EventOption> options;
    private final Guard guard;

    private Event(Device device, MemorySegment handle, Set<EventOption> options) {
        this.device = device;
        this.handle = handle;
        this.options = options;
        this.guard = new Guard("event", device);
        NativeHandles.opened(KIND);
    }

    /**
     * Creates an event.
     *
     * @throws IllegalArgumentException if the options exclude each other
     * @throws IllegalStateException if CUDA cannot be used here
     * @throws CudaException if the runtime refuses
     */
    public static Event create(Device device, EventOption... options) {
        Set<EventOption> set = EnumSet.noneOf(EventOption.class);
        set.addAll(Arrays.asList(options));
        if (set.contains(EventOption.TIMING) && set.contains(EventOption.INTERPROCESS)) {
            throw new IllegalArgumentException("an event for other processes cannot have TIMING, got " + set);
        }
        Cuda.require();
        int flags = flags(set);
        MemorySegment handle = device.askPointer(
                "cudaEventCreateWithFlags",
                device + ", options " + set,
                out -> CudaApi.cudaEventCreateWithFlags(out, flags));
        return new Event(device, handle, set);
    }

    /**
     * Opens an event of another process. That process must not close its event before this one is closed.
     *
     * @throws IllegalStateException if CUDA cannot be used here
     * @throws CudaException if the runtime refuses, for example because the handle is from this process
     */
    public static Event open(Device device, IpcEventHandle shared) {
        Cuda.require();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocateFrom(JAVA_BYTE, shared.toBytes());
            MemorySegment handle = device.askPointer(
                    "cudaIpcOpenEventHandle", device.toString(), out -> CudaApi.cudaIpcOpenEventHandle(out, bytes));
            return new Event(device, handle, EnumSet.of(EventOption.INTERPROCESS));
        }
    }

    /** Returns the device that the event is for. */
    public Device device() {
        return device;
    }

    /**
     * Puts the event at the end of a stream's present work.
     *
     * @throws IllegalArgumentException if the stream is for another device
     * @throws IllegalStateException if the event or the stream is closed
     * @throws CudaException if the runtime refuses
     */
    public void record(Stream stream) {
        if (!stream.device().equals(device)) {
            throw new IllegalArgumentException(
                    "an event of " + device + " cannot be recorded on a stream of " + stream.device());
        }
        enter();
        try {
            stream.enter();
            try {
                CudaStatus.check("cudaEventRecord", CudaApi.cudaEventRecord(handle, stream.handle()), this);
            } finally {
                stream.exit();
            }
        } finally {
            exit();
        }
    }

    /**
     * Asks once whether the stream got there. An event that was never recorded is done.
     *
     * @throws CudaException if work before it failed
     */
    public boolean isDone() {
        enter();
        try {
            return CudaStatus.isDone("cudaEventQuery", CudaApi.cudaEventQuery(handle), this);
        } finally {
            exit();
        }
    }

    /**
     * Waits, for as long as it takes, until the stream got there. Blocks: call it on a platform thread, or use
     * {@link #await}.
     *
     * @throws CudaException if work before it failed
     */
    public void synchronize() {
        enter();
        try {
            CudaStatus.check("cudaEventSynchronize", CudaApi.cudaEventSynchronize(handle), this);
        } finally {
            exit();
        }
    }

    /**
     * Polls, with growing pauses, until the stream got there or the time is over; also ends when the thread is
     * interrupted.
     *
     * @return whether the stream got there
     * @throws CudaException if work before it failed
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
     * Returns the milliseconds from another event to this one; both must be done.
     *
     * @throws IllegalStateException if one of them was created without {@link EventOption#TIMING}, or is closed
     * @throws CudaException if one of them was not recorded or is not done
     */
    public float elapsedMillis(Event since) {
        if (!options.contains(EventOption.TIMING) || !since.options.contains(EventOption.TIMING)) {
            throw new IllegalStateException("both events must be created with TIMING");
        }
        since.enter();
        try {
            return elapsedMillisSince(since.handle);
        } finally {
            since.exit();
        }
    }

    /**
     * Returns what another process needs to open the event; see {@link #open}.
     *
     * @throws IllegalStateException if it was created without {@link EventOption#INTERPROCESS}, or is closed
     * @throws CudaException if the runtime refuses
     */
    public IpcEventHandle ipcHandle() {
        if (!options.contains(EventOption.INTERPROCESS)) {
            throw new IllegalStateException("the event of " + device + " must be created with INTERPROCESS");
        }
        enter();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = cudaIpcEventHandle_st.allocate(arena);
            CudaStatus.check("cudaIpcGetEventHandle", CudaApi.cudaIpcGetEventHandle(out, handle), this);
            return IpcEventHandle.of(out.toArray(JAVA_BYTE));
        } finally {
            exit();
        }
    }

    /**
     * Destroys the event; streams that wait for it still do. Closing twice does nothing.
     *
     * @throws IllegalStateException if another thread stays in a call for 10 seconds: the event stays open
     * @throws CudaException if the runtime tells of an error; the event is closed nevertheless
     */
    @Override
    public synchronized void close() {
        if (!guard.isClosed()) {
            guard.shut(Backoff.deadline(Guard.CLOSE_WAIT));
            guard.end();
            NativeHandles.closed(KIND);
            device.tryUse();
            CudaStatus.check("cudaEventDestroy", CudaApi.cudaEventDestroy(handle), this);
        }
    }

    /** Returns whether {@link #close} destroyed the event, or had to give it up. */
    public boolean isClosed() {
        return guard.isClosed();
    }

    @Override
    public String toString() {
        return guard.toString();
    }

    MemorySegment handle() {
        return handle;
    }

    /** Lets a call in: the event stays open until {@link #exit}, and its device is selected on this thread. */
    void enter() {
        guard.enterOnDevice();
    }

    void exit() {
        guard.exit();
    }

    private float elapsedMillisSince(MemorySegment since) {
        enter();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(JAVA_FLOAT);
            CudaStatus.check("cudaEventElapsedTime", CudaApi.cudaEventElapsedTime(out, since, handle), this);
            return out.get(JAVA_FLOAT, 0);
        } finally {
            exit();
        }
    }

    private static int flags(Set<EventOption> options) {
        return (options.contains(EventOption.TIMING) ? CudaApi.cudaEventDefault() : CudaApi.cudaEventDisableTiming())
                | (options.contains(EventOption.BLOCKING_SYNC) ? CudaApi.cudaEventBlockingSync() : 0)
                | (options.contains(EventOption.INTERPROCESS) ? CudaApi.cudaEventInterprocess() : 0);
    }
}
