package io.kvtier.bindings.cufile;

import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.internal.Backoff;
import io.kvtier.bindings.internal.FirstFailure;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Reads and writes that are handed over together and then run by themselves: add them, {@link #submit} them, {@link #await}
 * their end, look at what became of each, and {@link #clear} for the next ones. An operation is known by its index, from 0 in
 * the order of adding. In the steady state nothing is allocated.
 *
 * <p>They use registered files and buffers only, which refuse to close until native code has done with them. An operation may
 * move fewer bytes than it was asked to: a read whose file ends before, and others too. {@link #requireAll} takes that for a
 * failure; {@link #moved} tells the number. Safe for all threads. Whoever creates it closes it, before the driver.
 */
public abstract sealed class Transfers implements AutoCloseable permits Batch, StreamTransfers {
    /*
     * `inFlight` counts the operations that native code may be at; while it is not 0, all that is native stays as it is. An
     * operation holds its file and its buffer from the moment when it is added until native code has done with it.
     *
     * Whoever loses such an object without closing it must not let the collector free memory under native code: LIVE keeps
     * what is not closed reachable.
     *
     * The lock is held for one call into native code, never during a wait. Waiting for it is bounded nevertheless: in
     * compatibility mode a batch does all its I/O in the call that submits it.
     */
    private static final Set<Transfers> LIVE = ConcurrentHashMap.newKeySet();
    private static final Duration CLOSE_WAIT = Duration.ofSeconds(10);
    private static final int MOST = 1 << 16;

    /** What became of an operation. */
    public enum State {
        /** It was added, and not submitted yet. */
        PREPARED,
        /** Native code may be at it. */
        IN_FLIGHT,
        /** It has moved bytes: all, or fewer. */
        DONE,
        /** It has failed. */
        FAILED,
        /** It was canceled before it began. */
        CANCELED
    }

    private final Driver driver;
    private final String kind;
    private final String name;
    private final Operation[] operations;
    private final ReentrantLock lock = new ReentrantLock();
    private int size;
    private int submitted;
    private int inFlight;
    private boolean closed;

    /** Creates an empty one; the constructor that calls this must be followed by {@link #opened} or give the driver back. */
    Transfers(Driver driver, String kind, String name, int capacity) {
        this.driver = driver;
        this.kind = kind;
        this.name = name;
        this.operations = new Operation[capacity];
        for (int i = 0; i < capacity; i++) {
            operations[i] = new Operation();
        }
    }

    static void checkCapacity(int capacity, long most) {
        long limit = most > 0 ? Math.min(most, MOST) : MOST;
        if (capacity < 1 || capacity > limit) {
            throw new IllegalArgumentException("there may be from 1 to " + limit + " operations, not " + capacity);
        }
    }

    /** Follows the last step of making one. */
    final void opened() {
        NativeHandles.opened(kind);
        LIVE.add(this);
    }

    /** Returns how many operations it can hold. */
    public final int capacity() {
        return operations.length;
    }

    /** Returns how many operations there are. */
    public final int size() {
        lock();
        try {
            return size;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Adds a read, from a position of a file to a part of a buffer.
     *
     * @return its index
     * @throws IndexOutOfBoundsException if the part does not lie within the buffer
     * @throws IllegalArgumentException if there is nothing to read, the position is negative or the buffer is read-only
     * @throws IllegalStateException if file, buffer or this is closed, or there is no room
     */
    public final int read(RegisteredFile from, RegisteredBuffer to, long offset, long bytes, long position) {
        return add(false, from, to, offset, bytes, position);
    }

    /**
     * Adds a write, of a part of a buffer to a position of a file.
     *
     * @return its index
     * @throws IndexOutOfBoundsException if the part does not lie within the buffer
     * @throws IllegalArgumentException if there is nothing to write, or the position is negative
     * @throws IllegalStateException if file, buffer or this is closed, or there is no room
     */
    public final int write(RegisteredFile to, RegisteredBuffer from, long offset, long bytes, long position) {
        return add(true, to, from, offset, bytes, position);
    }

    private int add(
            boolean write, RegisteredFile file, RegisteredBuffer buffer, long offset, long bytes, long position) {
        enter();
        try {
            if (size == operations.length) {
                throw new IllegalStateException(
                        name + " is full with " + size + " operations; submit them, wait for their end and clear it");
            }
            checkAlignment(buffer, offset, bytes, position);
            operations[size].prepare(write, file, buffer, offset, bytes, position);
            return size++;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Lets all operations begin that were added since the last time.
     *
     * @throws IllegalStateException if it is closed or cannot take more now
     * @throws CuFileException if cuFile refuses an operation
     */
    public final void submit() {
        enter();
        try {
            if (submitted < size) {
                submit(submitted, size);
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Asks once whether all operations that were submitted have ended.
     *
     * @throws CuFileException if cuFile cannot tell
     * @throws io.kvtier.bindings.cuda.CudaException if CUDA cannot tell
     */
    public final boolean isDone() {
        enter();
        try {
            return haveEnded();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Polls, with growing pauses, until all operations that were submitted have ended or the time is over; also ends when the
     * thread is interrupted. The operations go on in any case.
     *
     * @return whether they have ended
     * @throws CuFileException if cuFile cannot tell
     * @throws io.kvtier.bindings.cuda.CudaException if CUDA cannot tell
     */
    public final boolean await(Duration timeout) {
        long deadline = Backoff.deadline(timeout);
        for (int polls = 0; !isDone(); polls++) {
            if (!Backoff.pause(polls, deadline)) {
                return false;
            }
        }
        return true;
    }

    /** Returns what became of an operation, as far as {@link #isDone} or {@link #await} know. */
    public final State state(int index) {
        lock();
        try {
            return operation(index).state();
        } finally {
            lock.unlock();
        }
    }

    /** Returns how many bytes an operation has moved; 0 unless it is {@link State#DONE}. */
    public final long moved(int index) {
        lock();
        try {
            return operation(index).moved();
        } finally {
            lock.unlock();
        }
    }

    /** Returns why an operation that has ended did not move all of its bytes; empty if it did, or has not ended. */
    public final Optional<CuFileException> failure(int index) {
        lock();
        try {
            return operation(index).failure(function(operation(index)), index);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Makes sure that all operations have moved all of their bytes.
     *
     * @throws IllegalStateException if some have not ended, or were never submitted
     * @throws CuFileException if some failed, were canceled or moved too little: that of the first, which has those of the
     *     others as suppressed exceptions
     */
    public final void requireAll() {
        lock();
        try {
            if (inFlight > 0 || submitted < size) {
                throw new IllegalStateException("of the " + size + " operations of " + name + ", " + inFlight
                        + " have not ended and " + (size - submitted) + " were not submitted");
            }
            FirstFailure failure = new FirstFailure();
            for (int i = 0; i < size; i++) {
                operations[i].failure(function(operations[i]), i).ifPresent(failure::add);
            }
            failure.rethrow();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Forgets all operations; indices begin at 0 again. What was not submitted is dropped.
     *
     * @throws IllegalStateException if some have not ended
     */
    public final void clear() {
        enter();
        try {
            if (inFlight > 0) {
                throw new IllegalStateException(
                        name + " still has " + inFlight + " operations in flight; wait for their end first");
            }
            requireUsable();
            forget();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits up to 10 seconds for the end of all operations and gives everything native back. Closing twice does nothing.
     *
     * @throws IllegalStateException if operations have not ended then, or another thread stays in a call: it stays open, and so
     *     must the memory; close it again later
     * @throws CuFileException if cuFile cannot tell whether they have ended, and then it stays open; or if cuFile tells of an
     *     earlier error, and then it is closed nevertheless
     * @throws io.kvtier.bindings.cuda.CudaException likewise
     */
    @Override
    public final void close() {
        long deadline = Backoff.deadline(CLOSE_WAIT);
        boolean interrupted = false;
        try {
            for (int polls = 0; !tryClose(); polls++) {
                interrupted |= Thread.interrupted();
                if (!Backoff.pause(polls, deadline)) {
                    throw new IllegalStateException(name + " still has operations in flight after "
                            + CLOSE_WAIT.toSeconds() + " seconds; it stays open, close it again later");
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private boolean tryClose() {
        lock();
        try {
            if (!closed && !haveEnded()) {
                return false;
            }
            if (!closed) {
                closed = true;
                free();
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    private void free() {
        LIVE.remove(this);
        NativeHandles.closed(kind);
        FirstFailure failure = new FirstFailure();
        failure.in(this::destroy);
        failure.in(this::forget);
        driver.users().release();
        failure.rethrow();
    }

    private void forget() {
        for (int i = 0; i < size; i++) {
            operations[i].release();
        }
        size = 0;
        submitted = 0;
    }

    private boolean haveEnded() {
        if (inFlight > 0) {
            collect();
        }
        return inFlight == 0;
    }

    /* ---- what the two kinds do differently; called with the lock held ---- */

    /** Hands operations over, from one index up to and without another; calls {@link #begun} or {@link #refused} for each. */
    abstract void submit(int from, int to);

    /** Looks what has ended and calls {@link #ended} for it. */
    abstract void collect();

    /** Gives everything native back; no operation is in flight. */
    abstract void destroy();

    /** Returns the function that an operation is handed to. */
    abstract String function(Operation operation);

    /** Refuses what is not aligned, where that matters. */
    void checkAlignment(RegisteredBuffer buffer, long offset, long bytes, long position) {}

    /** Refuses, if it is spoilt for good. */
    void requireUsable() {}

    /* ---- what they tell ---- */

    /** Native code has taken the next operation up. */
    final void begun(int index) {
        operation(index).begin();
        submitted = index + 1;
        inFlight++;
    }

    /** Native code has done with an operation in flight: {@code result} is what it moved, or a negated code or errno. */
    final void ended(int index, long result) {
        Operation operation = operation(index);
        if (result >= 0) {
            operation.done(result);
        } else {
            operation.failed(-result, 0);
        }
        leave(operation);
    }

    final void canceled(int index) {
        operation(index).canceled();
        leave(operation(index));
    }

    /** All operations in flight have failed with one of cuFile's codes and one of CUDA's. */
    final void allFailed(int code, int cudaCode) {
        for (int i = 0; i < size; i++) {
            if (isInFlight(i)) {
                operations[i].failed(code, cudaCode);
                leave(operations[i]);
            }
        }
    }

    /** Native code did not take the next operation up, and says why. Its buffer stays held until this is cleared or closed. */
    final void refused(int index, int code, int cudaCode) {
        operation(index).failed(code, cudaCode);
        submitted = index + 1;
    }

    final boolean isInFlight(long index) {
        return index >= 0 && index < size && operations[(int) index].state() == State.IN_FLIGHT;
    }

    final boolean hasInFlight() {
        return inFlight > 0;
    }

    final Operation operation(int index) {
        if (index < 0 || index >= size) {
            throw new IndexOutOfBoundsException(
                    name + " has " + size + " operations, from 0, and none of index " + index);
        }
        return operations[index];
    }

    private void leave(Operation operation) {
        operation.release();
        inFlight--;
    }

    /* ---- the lock ---- */

    /** Takes the lock, {@link #exit} must follow, or refuses because it is closed. */
    final void enter() {
        lock();
        if (closed) {
            lock.unlock();
            throw new IllegalStateException(name + " is closed");
        }
    }

    final void exit() {
        lock.unlock();
    }

    private void lock() {
        if (lock.tryLock()) {
            return;
        }
        try {
            if (lock.tryLock(CLOSE_WAIT.toNanos(), TimeUnit.NANOSECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        throw new IllegalStateException("another thread was in a call of " + name + " for " + CLOSE_WAIT.toSeconds()
                + " seconds, or this thread was interrupted; try again later");
    }

    @Override
    public final String toString() {
        return name;
    }
}
