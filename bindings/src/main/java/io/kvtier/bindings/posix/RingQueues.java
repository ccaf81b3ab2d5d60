package io.kvtier.bindings.posix;

import io.kvtier.bindings.posix.generated.PosixApi;
import io.kvtier.bindings.posix.generated.io_cqring_offsets;
import io.kvtier.bindings.posix.generated.io_sqring_offsets;
import io.kvtier.bindings.posix.generated.io_uring_cqe;
import io.kvtier.bindings.posix.generated.io_uring_params;
import io.kvtier.bindings.posix.generated.io_uring_sqe;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/** The two queues in memory that a ring shares with the kernel. For one thread at a time. */
final class RingQueues implements AutoCloseable {
    /*
     *                    head (kernel)         tail (we)
     *   submissions        v                     v
     *   [ . . . . . . . . . x x x x x x x x x x x . . . . ]     an array of indexes into the entries; index i names entry i
     *
     *                    head (we)             tail (kernel)
     *   completions        v                     v
     *   [ . . . . . . . . . x x x x x x x x x x x . . . . ]     the entries themselves
     *
     * Heads and tails only grow, and wrap as unsigned numbers; the place is their value under the mask. Who fills an entry
     * releases the tail after it, who reads entries acquires the tail before and releases the head after, so that an entry is
     * overwritten only when it has been read. Our own head and tail need no ordering when we read them ourselves.
     */
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
    private static final long SUBMISSION = io_uring_sqe.sizeof();
    private static final long COMPLETION = io_uring_cqe.sizeof();
    private static final int MAP_FLAGS = PosixApi.MAP_SHARED() | PosixApi.MAP_POPULATE();

    private final MappedMemory ringMemory;
    private final MappedMemory entryMemory;
    private final MemorySegment ring;
    private final MemorySegment entries;
    private final long submissionHead;
    private final long submissionTail;
    private final long submissionFlags;
    private final long completionHead;
    private final long completionTail;
    private final long completions;
    private final int submissionCount;
    private final int completionMask;
    private int nextSubmission;
    private int nextCompletion;

    /** Maps the queues of a ring that was set up with these parameters. */
    RingQueues(int descriptor, MemorySegment parameters) {
        MemorySegment submission = io_uring_params.sq_off(parameters);
        MemorySegment completion = io_uring_params.cq_off(parameters);
        submissionCount = io_uring_params.sq_entries(parameters);
        completionMask = io_uring_params.cq_entries(parameters) - 1;
        submissionHead = io_sqring_offsets.head(submission);
        submissionTail = io_sqring_offsets.tail(submission);
        submissionFlags = io_sqring_offsets.flags(submission);
        completionHead = io_cqring_offsets.head(completion);
        completionTail = io_cqring_offsets.tail(completion);
        completions = io_cqring_offsets.cqes(completion);
        long indexes = io_sqring_offsets.array(submission);
        long bytes = Math.max(
                indexes + (long) submissionCount * Integer.BYTES, completions + (completionMask + 1L) * COMPLETION);
        ringMemory = map(descriptor, PosixApi.IORING_OFF_SQ_RING(), bytes);
        try {
            entryMemory = map(descriptor, PosixApi.IORING_OFF_SQES(), submissionCount * SUBMISSION);
        } catch (PosixException e) {
            ringMemory.close();
            throw e;
        }
        ring = ringMemory.segment();
        entries = entryMemory.segment();
        for (int i = 0; i < submissionCount; i++) {
            ring.set(ValueLayout.JAVA_INT, indexes + (long) i * Integer.BYTES, i);
        }
        nextSubmission = (int) INT.getAcquire(ring, submissionTail);
        nextCompletion = (int) INT.getAcquire(ring, completionHead);
    }

    private static MappedMemory map(int descriptor, long position, long bytes) {
        return MappedMemory.ofDescriptor(
                "io_uring queues", descriptor, position, bytes, MappedMemory.READ_WRITE, MAP_FLAGS);
    }

    /** Returns how many submissions there is room for. */
    int room() {
        return submissionCount - pending();
    }

    /** Returns how many submissions the kernel has not taken yet. */
    int pending() {
        return nextSubmission - (int) INT.getAcquire(ring, submissionHead);
    }

    /** Adds a submission; there must be room. */
    void submit(
            int operation,
            int flags,
            int descriptor,
            long offset,
            long address,
            int length,
            int operationFlags,
            int buffer,
            long tag) {
        long at = (nextSubmission & (submissionCount - 1)) * SUBMISSION;
        for (long word = 0; word < SUBMISSION; word += Long.BYTES) {
            entries.set(ValueLayout.JAVA_LONG, at + word, 0);
        }
        entries.set(io_uring_sqe.opcode$layout(), at + io_uring_sqe.opcode$offset(), (byte) operation);
        entries.set(io_uring_sqe.flags$layout(), at + io_uring_sqe.flags$offset(), (byte) flags);
        entries.set(io_uring_sqe.fd$layout(), at + io_uring_sqe.fd$offset(), descriptor);
        entries.set(io_uring_sqe.off$layout(), at + io_uring_sqe.off$offset(), offset);
        entries.set(io_uring_sqe.addr$layout(), at + io_uring_sqe.addr$offset(), address);
        entries.set(io_uring_sqe.len$layout(), at + io_uring_sqe.len$offset(), length);
        entries.set(io_uring_sqe.rw_flags$layout(), at + io_uring_sqe.rw_flags$offset(), operationFlags);
        entries.set(io_uring_sqe.buf_index$layout(), at + io_uring_sqe.buf_index$offset(), (short) buffer);
        entries.set(io_uring_sqe.user_data$layout(), at + io_uring_sqe.user_data$offset(), tag);
        nextSubmission++;
        INT.setRelease(ring, submissionTail, nextSubmission);
    }

    /** Returns whether the kernel keeps completions back that the queue had no room for. */
    boolean overflowed() {
        return ((int) INT.getAcquire(ring, submissionFlags) & PosixApi.IORING_SQ_CQ_OVERFLOW()) != 0;
    }

    boolean hasCompletion() {
        return nextCompletion != (int) INT.getAcquire(ring, completionTail);
    }

    /** Returns the tag of the next completion; there must be one. */
    long completedTag() {
        return ring.get(io_uring_cqe.user_data$layout(), completion() + io_uring_cqe.user_data$offset());
    }

    /** Returns the result of the next completion. */
    int completedResult() {
        return ring.get(io_uring_cqe.res$layout(), completion() + io_uring_cqe.res$offset());
    }

    /** Takes the next completion away. */
    void consume() {
        nextCompletion++;
        INT.setRelease(ring, completionHead, nextCompletion);
    }

    private long completion() {
        return completions + (nextCompletion & completionMask) * COMPLETION;
    }

    @Override
    public void close() {
        entryMemory.close();
        ringMemory.close();
    }
}
