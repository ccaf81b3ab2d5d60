package io.kvtier.bindings.posix;

import io.kvtier.bindings.internal.Errno;
import io.kvtier.bindings.posix.generated.PosixApi;
import io.kvtier.bindings.posix.generated.__kernel_timespec;
import io.kvtier.bindings.posix.generated.io_uring_getevents_arg;
import io.kvtier.bindings.posix.generated.io_uring_params;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A ring's way into the kernel: submitting, and waiting for a limited time. For one thread at a time. */
final class RingKernel implements AutoCloseable {
    /*
     * The caller's operations have tags from 0. Negative ones are our own, whose completions nobody sees: -1 for requests to
     * cancel, and counting up from the smallest number for timeouts. Those are only for kernels before 5.11, where entering
     * the kernel takes no time limit: a timeout operation is submitted with each wait and wakes it, and what is left of it
     * afterwards is cancelled, so that it does not cut a later wait short or let it last too long.
     */
    static final int MOST_ENTRIES = 32_768;

    private static final long CANCEL_TAG = -1;
    private static final long RETRY_NANOS = TimeUnit.MICROSECONDS.toNanos(50);
    private static final long NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);

    private final int descriptor;
    private final RingQueues queues;
    private final boolean timedWaits;
    private final MemorySegment time;
    private final MemorySegment argument;
    private long timeoutTag = Long.MIN_VALUE;
    private boolean timeoutPending;

    private RingKernel(int descriptor, RingQueues queues, boolean timedWaits) {
        this.descriptor = descriptor;
        this.queues = queues;
        this.timedWaits = timedWaits;
        Arena arena = Arena.ofAuto();
        this.time = __kernel_timespec.allocate(arena);
        this.argument = io_uring_getevents_arg.allocate(arena);
        io_uring_getevents_arg.ts(argument, time.address());
    }

    static void requireRange(String what, int value, int most) {
        if (value < 1 || value > most) {
            throw new IllegalArgumentException("a ring can have 1 to " + most + " " + what + ", not " + value);
        }
    }

    /** Sets a ring up. */
    static RingKernel open(int entries, int completions, boolean timedWaits) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment parameters = io_uring_params.allocate(arena);
            io_uring_params.flags(parameters, PosixApi.IORING_SETUP_CQSIZE() | PosixApi.IORING_SETUP_CLAMP());
            io_uring_params.cq_entries(parameters, completions);
            int descriptor = setup(entries, parameters);
            boolean has = (io_uring_params.features(parameters) & PosixApi.IORING_FEAT_EXT_ARG()) != 0;
            try {
                return new RingKernel(descriptor, new RingQueues(descriptor, parameters), timedWaits && has);
            } catch (PosixException e) {
                PosixNative.close(descriptor);
                throw e;
            }
        }
    }

    /** Makes a ring without its queues and returns its descriptor. */
    static int setup(int entries, MemorySegment parameters) {
        long answer = PosixNative.ioUringSetup(entries, parameters);
        return (int) PosixStatus.check("io_uring_setup", answer, entries + " entries");
    }

    int descriptor() {
        return descriptor;
    }

    RingQueues queues() {
        return queues;
    }

    /** Returns whether a completion is of an operation that the caller knows nothing of. */
    boolean isOwn(long tag) {
        if (tag == timeoutTag) {
            timeoutPending = false;
        }
        return tag < 0;
    }

    /** Submits what is in the queue, as far as the kernel takes it. */
    int submit() {
        int submitted = 0;
        int pending = queues.pending();
        while (pending > 0) {
            long taken = PosixNative.ioUringEnter(descriptor, pending, 0, 0, MemorySegment.NULL, 0);
            if (taken > 0) {
                submitted += (int) taken;
            } else if (taken == 0 || isBusy()) {
                break;
            } else if (!PosixStatus.interrupted(taken)) {
                throw failure(pending, 0);
            }
            pending = queues.pending();
        }
        return submitted;
    }

    /** Brings completions that the queue had no room for; returns whether there is one now. */
    boolean flush() {
        if (!queues.overflowed()) {
            return false;
        }
        PosixNative.ioUringEnter(descriptor, 0, 0, PosixApi.IORING_ENTER_GETEVENTS(), MemorySegment.NULL, 0);
        return queues.hasCompletion();
    }

    /** Prepares ending an operation early; there must be room. */
    void cancel(long tag) {
        queues.submit(PosixApi.IORING_OP_ASYNC_CANCEL(), 0, -1, 0, tag, 0, 0, 0, CANCEL_TAG);
    }

    /** Submits what is in the queue and waits once; it may wake early. */
    void await(int wanted, long nanos) {
        __kernel_timespec.tv_sec(time, nanos / NANOS_PER_SECOND);
        __kernel_timespec.tv_nsec(time, nanos % NANOS_PER_SECOND);
        if (timedWaits) {
            enter(wanted, PosixApi.IORING_ENTER_EXT_ARG(), argument, argument.byteSize(), nanos);
        } else {
            startTimeout();
            enter(timeoutPending ? 1 : 0, 0, MemorySegment.NULL, 0, nanos);
            endTimeout();
        }
    }

    private void enter(int wanted, int flags, MemorySegment extra, long size, long nanos) {
        int pending = queues.pending();
        int all = flags | PosixApi.IORING_ENTER_GETEVENTS();
        long answer = PosixNative.ioUringEnter(descriptor, pending, wanted, all, extra, size);
        if (answer >= 0 || PosixStatus.interrupted(answer) || Errno.last() == PosixApi.ETIME()) {
            return;
        }
        if (!isBusy()) {
            throw failure(pending, wanted);
        }
        if (!queues.hasCompletion() && !queues.overflowed()) {
            LockSupport.parkNanos(Math.min(nanos, RETRY_NANOS));
        }
    }

    private void startTimeout() {
        if (makeRoom()) {
            timeoutTag = timeoutTag == CANCEL_TAG - 1 ? Long.MIN_VALUE : timeoutTag + 1;
            timeoutPending = true;
            queues.submit(PosixApi.IORING_OP_TIMEOUT(), 0, -1, 0, time.address(), 1, 0, 0, timeoutTag);
        }
    }

    private void endTimeout() {
        if (timeoutPending && makeRoom()) {
            timeoutPending = false;
            cancel(timeoutTag);
            submit();
        }
    }

    private boolean makeRoom() {
        if (queues.room() == 0) {
            submit();
        }
        return queues.room() > 0;
    }

    /** Returns whether the kernel wants completions to be taken, or memory to be there, before it goes on. */
    private static boolean isBusy() {
        return Errno.last() == PosixApi.EAGAIN() || Errno.last() == PosixApi.EBUSY();
    }

    private static PosixException failure(int pending, int wanted) {
        return PosixStatus.failure("io_uring_enter", pending + " to submit, " + wanted + " to wait for");
    }

    @Override
    public void close() {
        queues.close();
        PosixStatus.check("close", PosixNative.close(descriptor), "io_uring");
    }
}
