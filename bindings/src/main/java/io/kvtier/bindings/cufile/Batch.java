package io.kvtier.bindings.cufile;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.kvtier.bindings.cufile.generated.CUfileError;
import io.kvtier.bindings.cufile.generated.CUfileIOEvents;
import io.kvtier.bindings.cufile.generated.CUfileIOParams;
import io.kvtier.bindings.cufile.generated.CuFileApi;
import io.kvtier.bindings.cufile.generated.timespec;
import io.kvtier.bindings.posix.generated.PosixApi;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Reads and writes that cuFile gets in one call, and makes in any order. One group is under way at a time; use more batches for
 * more. In compatibility mode cuFile makes them all within {@link #submit}, which blocks for as long.
 */
public final class Batch extends Transfers {
    /*
     * When cuFile 1.20 refuses a submission, or is asked to cancel, it forgets the ends of operations that it has not told yet.
     * So a group is submitted only when nothing is in flight, and all ends are asked for before a cancellation. Whether cuFile
     * has begun with a part of a group that it refused is not known: the batch is spoilt then, and lets go of its files and
     * buffers only when it is destroyed.
     *
     * The place of an operation in `requests` is its own until it has ended, should cuFile look there again. What stands there
     * as cookie is the index, and comes back with the operation's end.
     */
    private static final String KIND = "cufile.batch";
    private static final long REQUEST = CUfileIOParams.sizeof();
    private static final long EVENT = CUfileIOEvents.sizeof();
    private static final long MEMORY = CUfileIOParams.u$offset() + CUfileIOParams.CUfileIOParams_u.batch$offset();
    private static final long BASE = MEMORY + CUfileIOParams.CUfileIOParams_u.CUfileIOParams_batch.devPtr_base$offset();
    private static final long POSITION =
            MEMORY + CUfileIOParams.CUfileIOParams_u.CUfileIOParams_batch.file_offset$offset();
    private static final long OFFSET =
            MEMORY + CUfileIOParams.CUfileIOParams_u.CUfileIOParams_batch.devPtr_offset$offset();
    private static final long SIZE = MEMORY + CUfileIOParams.CUfileIOParams_u.CUfileIOParams_batch.size$offset();

    private final Arena arena;
    private final MemorySegment handle;
    private final MemorySegment requests;
    private final MemorySegment events;
    private final MemorySegment count;
    private final MemorySegment atOnce;
    private boolean spoilt;

    private Batch(Driver driver, int capacity, Arena arena, MemorySegment handle) {
        super(driver, KIND, "the batch of " + capacity + " operations", capacity);
        this.arena = arena;
        this.handle = handle;
        this.requests = CUfileIOParams.allocateArray(capacity, arena);
        this.events = CUfileIOEvents.allocateArray(capacity, arena);
        this.count = arena.allocate(JAVA_INT);
        this.atOnce = timespec.allocate(arena);
    }

    /**
     * Creates an empty batch.
     *
     * @param capacity how many operations it can hold, up to {@link DriverProperties#maxBatchOperations}
     * @throws IllegalArgumentException if the driver takes no batch of that size
     * @throws IllegalStateException if the driver is closed
     * @throws UnsupportedOperationException if cuFile is older than 1.7
     * @throws CuFileException if cuFile refuses
     */
    @SuppressWarnings("MustBeClosedChecker") // destroy() closes the arena
    public static Batch create(Driver driver, int capacity) {
        CuFile.requireFunction("cuFileBatchIOSetUp", "1.7");
        checkCapacity(capacity, driver.properties().maxBatchOperations());
        driver.users().hold();
        Arena arena = Arena.ofShared();
        try {
            MemorySegment handle = arena.allocate(ADDRESS);
            CuFileStatus.check(
                    "cuFileBatchIOSetUp",
                    CuFileApi.cuFileBatchIOSetUp(CuFileStatus.result(), handle, capacity),
                    capacity + " operations");
            Batch batch = new Batch(driver, capacity, arena, handle.get(ADDRESS, 0));
            batch.opened();
            return batch;
        } catch (RuntimeException e) {
            arena.close();
            driver.users().release();
            throw e;
        }
    }

    /**
     * Asks cuFile not to begin with operations that it has not begun with. Those are {@link State#CANCELED} then; the others go
     * on: wait for their end as usual.
     *
     * @throws IllegalStateException if it is closed
     * @throws CuFileException if cuFile refuses
     */
    public void cancel() {
        enter();
        try {
            if (hasInFlight()) {
                collect();
            }
            if (hasInFlight()) {
                CuFileStatus.check(
                        "cuFileBatchIOCancel",
                        CuFileApi.cuFileBatchIOCancel(CuFileStatus.result(), handle),
                        toString());
            }
        } finally {
            exit();
        }
    }

    @Override
    void submit(int from, int to) {
        requireUsable();
        if (hasInFlight()) {
            throw new IllegalStateException(
                    this + " still has operations in flight; wait for their end, or use another batch");
        }
        for (int i = from; i < to; i++) {
            write(operation(i), requests.asSlice(i * REQUEST, REQUEST), i);
        }
        MemorySegment group = requests.asSlice(from * REQUEST, (to - from) * REQUEST);
        MemorySegment error = CuFileApi.cuFileBatchIOSubmit(CuFileStatus.result(), handle, to - from, group, 0);
        if (CuFileStatus.isFailure(error)) {
            throw refusal(error, from, to);
        }
        for (int i = from; i < to; i++) {
            begun(i);
        }
    }

    private static void write(Operation operation, MemorySegment request, long cookie) {
        request.set(JAVA_INT, CUfileIOParams.mode$offset(), CuFileApi.CUFILE_BATCH());
        request.set(
                JAVA_INT,
                CUfileIOParams.opcode$offset(),
                operation.isWrite() ? CuFileApi.CUFILE_WRITE() : CuFileApi.CUFILE_READ());
        request.set(ADDRESS, CUfileIOParams.fh$offset(), operation.file().handle());
        request.set(JAVA_LONG, CUfileIOParams.cookie$offset(), cookie);
        request.set(JAVA_LONG, BASE, operation.buffer().address());
        request.set(JAVA_LONG, POSITION, operation.position());
        request.set(JAVA_LONG, OFFSET, operation.offset());
        request.set(JAVA_LONG, SIZE, operation.bytes());
    }

    private CuFileException refusal(MemorySegment error, int from, int to) {
        spoilt = true;
        int code = CUfileError.err(error);
        int cudaCode = CUfileError.cu_err(error);
        for (int i = from; i < to; i++) {
            refused(i, code, cudaCode);
        }
        return CuFileStatus.exception(
                "cuFileBatchIOSubmit",
                error,
                (to - from) + " operations, the first is a " + operation(from)
                        + "; close the batch, it cannot be used any more");
    }

    @Override
    void collect() {
        count.set(JAVA_INT, 0, capacity());
        CuFileStatus.check(
                "cuFileBatchIOGetStatus",
                CuFileApi.cuFileBatchIOGetStatus(CuFileStatus.result(), handle, 0, count, events, atOnce),
                toString());
        int told = Math.min(count.get(JAVA_INT, 0), capacity());
        for (int i = 0; i < told; i++) {
            long at = i * EVENT;
            take(
                    events.get(JAVA_LONG, at + CUfileIOEvents.cookie$offset()),
                    events.get(JAVA_INT, at + CUfileIOEvents.status$offset()),
                    events.get(JAVA_LONG, at + CUfileIOEvents.ret$offset()));
        }
    }

    private void take(long index, int status, long result) {
        if (!isInFlight(index) || status == CuFileApi.CUFILE_WAITING() || status == CuFileApi.CUFILE_PENDING()) {
            return;
        }
        if (status == CuFileApi.CUFILE_CANCELED()) {
            canceled((int) index);
        } else if (status == CuFileApi.CUFILE_COMPLETE()) {
            ended((int) index, result);
        } else {
            ended((int) index, result < 0 ? result : -reason(status));
        }
    }

    /** Returns what stands for a status that came without a reason. */
    private static long reason(int status) {
        if (status == CuFileApi.CUFILE_INVALID()) {
            return CuFileApi.CU_FILE_INVALID_VALUE();
        }
        return status == CuFileApi.CUFILE_TIMEOUT() ? PosixApi.ETIME() : CuFileApi.CU_FILE_IO_ERROR();
    }

    @Override
    void destroy() {
        CuFileApi.cuFileBatchIODestroy(handle);
        arena.close();
    }

    @Override
    void requireUsable() {
        if (spoilt) {
            throw new IllegalStateException(this + " is spoilt since cuFile refused a submission; close it");
        }
    }

    @Override
    String function(Operation operation) {
        return "cuFileBatchIOSubmit";
    }
}
