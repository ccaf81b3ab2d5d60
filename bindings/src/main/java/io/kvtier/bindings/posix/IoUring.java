package io.kvtier.bindings.posix;

import io.kvtier.bindings.Availability;
import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.posix.generated.PosixApi;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Many file operations at once, without a thread for each: they are prepared, submitted together, and completed in any
 * order. Preparing, submitting and polling allocate nothing.
 *
 * <p>A ring is for one thread at a time; two at once are refused. Use one for each thread that does I/O, and let that thread
 * live as long as its operations: the kernel cancels what a thread has under way when it ends. Waiting blocks the thread, a
 * virtual thread's carrier too.
 *
 * <p>Memory of an operation must stay open until it is completed: the kernel goes on writing there, and nothing but the
 * caller can know. Memory that is {@linkplain #registerBuffers registered} is safe even then. Files stay open by themselves:
 * closing one that an operation uses is refused.
 * Whoever opens a ring closes it.
 */
public final class IoUring implements AutoCloseable {
    private static final String KIND = "posix.io_uring";
    private static final long CLOSE_WAIT_NANOS = Duration.ofSeconds(10).toNanos();
    private static final long MOST_BYTES = 0x7fff_f000L;

    private final RingKernel kernel;
    private final RingQueues queues;
    private final RingOperations operations;
    private final RingRegistrations registrations;
    private final OneThread guard = new OneThread("the ring");
    private volatile boolean closed;

    private IoUring(RingKernel kernel, int inFlight) {
        this.kernel = kernel;
        this.queues = kernel.queues();
        this.operations = new RingOperations(inFlight);
        this.registrations = new RingRegistrations(kernel.descriptor());
        NativeHandles.opened(KIND);
    }

    /** Returns whether rings can be used here; kernels before 5.6 have none, and containers often forbid them. */
    public static Availability availability() {
        return RingProbe.availability();
    }

    /**
     * Opens a ring.
     *
     * @param entries how many operations can be prepared before they are submitted; made a power of two
     * @param inFlight how many can be under way
     * @throws IllegalStateException if rings are not available
     * @throws PosixException with ENOMEM or EMFILE if the process may not have so much
     */
    public static IoUring open(int entries, int inFlight) {
        RingKernel.requireRange("entries", entries, RingKernel.MOST_ENTRIES);
        RingKernel.requireRange("operations in flight", inFlight, 2 * RingKernel.MOST_ENTRIES);
        return open(entries, inFlight, Math.max(2 * entries, inFlight), true);
    }

    /** Opens a ring with a queue of completions of some size, and perhaps without what kernels before 5.11 lack. */
    static IoUring open(int entries, int inFlight, int completions, boolean timedWaits) {
        if (availability() instanceof Availability.Absent absent) {
            throw new IllegalStateException(absent.toString());
        }
        return new IoUring(RingKernel.open(entries, completions, timedWaits), inFlight);
    }

    /** Returns how many operations were prepared and are not completed. */
    public int inFlight() {
        return operations.count();
    }

    /**
     * Prepares a read. If buffer or file are registered, that is used.
     *
     * @param target native memory, 2 GiB less a page at most; it must stay open until the operation is completed
     * @param data what the completion tells the operation by
     * @return false if there is no room: submit, or wait for completions
     */
    public boolean read(NativeFile file, MemorySegment target, long position, long data) {
        Segments.requireWritable(target);
        int buffer = registrations.buffer(target.address(), target.byteSize());
        int operation = buffer < 0 ? PosixApi.IORING_OP_READ() : PosixApi.IORING_OP_READ_FIXED();
        return transfer(operation, file, target, position, buffer, data);
    }

    /**
     * Prepares a write. If buffer or file are registered, that is used.
     *
     * @param source native memory, 2 GiB less a page at most; it must stay open until the operation is completed
     * @param data what the completion tells the operation by
     * @return false if there is no room: submit, or wait for completions
     */
    public boolean write(NativeFile file, MemorySegment source, long position, long data) {
        Segments.requireNative(source);
        int buffer = registrations.buffer(source.address(), source.byteSize());
        int operation = buffer < 0 ? PosixApi.IORING_OP_WRITE() : PosixApi.IORING_OP_WRITE_FIXED();
        return transfer(operation, file, source, position, buffer, data);
    }

    private boolean transfer(
            int operation, NativeFile file, MemorySegment memory, long position, int buffer, long data) {
        Segments.requirePosition(file.path(), position);
        if (memory.byteSize() > MOST_BYTES) {
            throw new IllegalArgumentException(
                    "one operation moves " + MOST_BYTES + " bytes at most, not " + memory.byteSize());
        }
        int length = (int) memory.byteSize();
        return prepare(operation, file, position, memory.address(), length, 0, Math.max(buffer, 0), memory, data);
    }

    /**
     * Prepares a read into several buffers. The list must not be changed until the operation is completed. Returns false if
     * there is no room.
     */
    public boolean read(NativeFile file, IoVectors targets, long position, long data) {
        targets.requireUsable(true);
        return vectored(PosixApi.IORING_OP_READV(), file, targets, position, data);
    }

    /**
     * Prepares a write from several buffers. The list must not be changed until the operation is completed. Returns false if
     * there is no room.
     */
    public boolean write(NativeFile file, IoVectors sources, long position, long data) {
        sources.requireUsable(false);
        return vectored(PosixApi.IORING_OP_WRITEV(), file, sources, position, data);
    }

    private boolean vectored(int operation, NativeFile file, IoVectors vectors, long position, long data) {
        Segments.requirePosition(file.path(), position);
        if (vectors.count() > Posix.vectorsPerCall()) {
            throw new IllegalArgumentException(
                    "one operation takes " + Posix.vectorsPerCall() + " buffers at most, not " + vectors.count());
        }
        long table = vectors.rest().address();
        return prepare(operation, file, position, table, vectors.count(), 0, 0, vectors, data);
    }

    /** Prepares making a file durable; it does not wait for other operations. Returns false if there is no room. */
    public boolean sync(NativeFile file, long data) {
        return prepare(PosixApi.IORING_OP_FSYNC(), file, 0, 0, 0, 0, 0, null, data);
    }

    /** Prepares making a file's data durable; it does not wait for other operations. Returns false if there is no room. */
    public boolean dataSync(NativeFile file, long data) {
        return prepare(PosixApi.IORING_OP_FSYNC(), file, 0, 0, 0, PosixApi.IORING_FSYNC_DATASYNC(), 0, null, data);
    }

    /** Prepares {@link NativeFile#allocate}. Returns false if there is no room. */
    public boolean allocate(NativeFile file, long position, long bytes, long data) {
        return fallocate(file, 0, position, bytes, data);
    }

    /** Prepares {@link NativeFile#punchHole}. Returns false if there is no room. */
    public boolean punchHole(NativeFile file, long position, long bytes, long data) {
        int mode = PosixApi.FALLOC_FL_PUNCH_HOLE() | PosixApi.FALLOC_FL_KEEP_SIZE();
        return fallocate(file, mode, position, bytes, data);
    }

    private boolean fallocate(NativeFile file, int mode, long position, long bytes, long data) {
        Segments.requireRange(file.path(), position, bytes);
        return prepare(PosixApi.IORING_OP_FALLOCATE(), file, position, bytes, mode, 0, 0, null, data);
    }

    /** Prepares an operation that does nothing. Returns false if there is no room. */
    public boolean nop(long data) {
        return prepare(PosixApi.IORING_OP_NOP(), null, 0, 0, 0, 0, 0, null, data);
    }

    private boolean prepare(
            int operation,
            @Nullable NativeFile file,
            long offset,
            long address,
            int length,
            int operationFlags,
            int buffer,
            @Nullable Object memory,
            long data) {
        boolean outermost = enter();
        try {
            if (operations.count() == operations.capacity() || queues.room() == 0) {
                return false;
            }
            long tag = operations.begin(data, file, memory);
            int number = file == null ? -1 : registrations.file(file);
            int descriptor = file == null ? -1 : number < 0 ? file.number() : number;
            int flags = number < 0 ? 0 : PosixApi.IOSQE_FIXED_FILE();
            queues.submit(operation, flags, descriptor, offset, address, length, operationFlags, buffer, tag);
            return true;
        } finally {
            guard.exit(outermost);
        }
    }

    /**
     * Asks the kernel to end one operation early; submits what is prepared. The operation is completed in any case: with
     * ECANCELED, or as it ended before.
     *
     * @return false if there is no operation with this data, or no room
     */
    public boolean cancel(long data) {
        boolean outermost = enter();
        try {
            kernel.submit();
            long tag = operations.find(data);
            if (tag < 0 || queues.room() == 0) {
                return false;
            }
            kernel.cancel(tag);
            kernel.submit();
            return true;
        } finally {
            guard.exit(outermost);
        }
    }

    /**
     * Gives the kernel what is prepared.
     *
     * @return how many operations it took; it leaves some when it has no memory for them or too many completions wait
     */
    public int submit() {
        boolean outermost = enter();
        try {
            return kernel.submit();
        } finally {
            guard.exit(outermost);
        }
    }

    /**
     * Hands over what is completed by now. Submits nothing.
     *
     * @return how many
     */
    public int poll(Completions completions) {
        boolean outermost = enter();
        try {
            return drain(completions);
        } finally {
            guard.exit(outermost);
        }
    }

    /**
     * Submits what is prepared, and hands over completions until there were enough, the time is over, or nothing is under
     * way. An interrupt does not end it.
     *
     * @param minimum how many completions are enough; there may be more
     * @return how many there were
     */
    public int await(int minimum, Duration timeout, Completions completions) {
        if (minimum < 0 || timeout.isNegative()) {
            throw new IllegalArgumentException("cannot wait for " + minimum + " completions during " + timeout);
        }
        boolean outermost = enter();
        try {
            long deadline = System.nanoTime() + timeout.toNanos();
            int delivered = drain(completions);
            long left = deadline - System.nanoTime();
            while (delivered < minimum && operations.count() > 0 && left > 0) {
                kernel.await(Math.min(minimum - delivered, operations.count()), left);
                delivered += drain(completions);
                left = deadline - System.nanoTime();
            }
            kernel.submit();
            return delivered + drain(completions);
        } finally {
            guard.exit(outermost);
        }
    }

    private int drain(Completions completions) {
        int delivered = 0;
        while (queues.hasCompletion() || kernel.flush()) {
            long tag = queues.completedTag();
            int result = queues.completedResult();
            queues.consume();
            if (!kernel.isOwn(tag)) {
                delivered++;
                completions.completed(operations.end(tag), result);
            }
        }
        return delivered;
    }

    /**
     * Makes the kernel know memory beforehand; reads and writes within one of the buffers are cheaper then. The kernel keeps
     * the pages in memory until they are unregistered.
     *
     * @param buffers native memory, 1 GiB at most each
     * @throws IllegalStateException if there are some already, or operations are under way
     * @throws PosixException with ENOMEM if the process may not lock so much memory
     */
    public void registerBuffers(List<MemorySegment> buffers) {
        whenIdle(() -> registrations.registerBuffers(buffers));
    }

    /** Takes {@link #registerBuffers} back. */
    public void unregisterBuffers() {
        whenIdle(registrations::unregisterBuffers);
    }

    /**
     * Makes the kernel know files beforehand; operations on them are cheaper then. They cannot be closed before they are
     * unregistered.
     *
     * @throws IllegalStateException if there are some already, or operations are under way
     */
    public void registerFiles(List<NativeFile> files) {
        whenIdle(() -> registrations.registerFiles(files));
    }

    /** Takes {@link #registerFiles} back. */
    public void unregisterFiles() {
        whenIdle(registrations::unregisterFiles);
    }

    private void whenIdle(Runnable action) {
        boolean outermost = enter();
        try {
            if (operations.count() > 0) {
                throw new IllegalStateException(operations.count()
                        + " operations are under way; registrations change only when there are none");
            }
            action.run();
        } finally {
            guard.exit(outermost);
        }
    }

    /**
     * Returns the exception for the result of an operation that failed.
     *
     * @param operation what was asked for, e.g. {@code read}
     * @param result the negative result
     * @param arguments file, position and size, for the message
     */
    public static PosixException failure(String operation, int result, String arguments) {
        if (result >= 0) {
            throw new IllegalArgumentException("the result " + result + " of " + operation + " is no failure");
        }
        return PosixStatus.failure("io_uring " + operation, -result, arguments);
    }

    /**
     * Submits what is prepared, waits up to 10 seconds for all that is under way, drops its results and frees the ring.
     * Closing twice does nothing.
     *
     * @throws IllegalStateException if an operation is still under way then, so that the kernel may still write to its
     *     memory, or another thread uses the ring: it stays open; cancel the operation and close again
     */
    @Override
    public void close() {
        if (!tryClose(CLOSE_WAIT_NANOS)) {
            throw new IllegalStateException("the ring stays open: " + operations.count()
                    + " operations are under way and their memory must stay open; cancel them and close it again");
        }
    }

    /** Closes the ring, unless operations are still under way after a wait. */
    boolean tryClose(long waitNanos) {
        if (!guard.enter()) {
            throw new IllegalStateException("a completion cannot close the ring that is handing it over");
        }
        try {
            if (!closed) {
                await(operations.count(), Duration.ofNanos(waitNanos), (_, _) -> {});
                if (operations.count() == 0) {
                    free();
                }
            }
            return closed;
        } finally {
            guard.exit(true);
        }
    }

    private void free() {
        closed = true;
        NativeHandles.closed(KIND);
        try (kernel) {
            registrations.releaseFiles();
        }
    }

    private boolean enter() {
        boolean outermost = guard.enter();
        if (closed) {
            guard.exit(outermost);
            throw new IllegalStateException("the ring is closed");
        }
        return outermost;
    }
}
