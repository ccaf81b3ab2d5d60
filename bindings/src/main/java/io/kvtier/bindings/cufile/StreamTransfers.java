package io.kvtier.bindings.cufile;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.kvtier.bindings.Hold;
import io.kvtier.bindings.cuda.CudaException;
import io.kvtier.bindings.cuda.Event;
import io.kvtier.bindings.cuda.PinnedMemory;
import io.kvtier.bindings.cuda.Stream;
import io.kvtier.bindings.cufile.generated.CUfileError;
import io.kvtier.bindings.cufile.generated.CuFileApi;
import io.kvtier.bindings.internal.FirstFailure;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Reads and writes in the order of a CUDA stream: each begins when all work before it is done, and work after it finds its
 * bytes moved. More can be submitted while others are under way, but all have ended only when the last has. One of them is for
 * one stream, which stays open as long as it does.
 */
public final class StreamTransfers extends Transfers {
    /*
     * cuFile gets addresses: of size, position and offset, which it may read as late as the stream gets there, and of the
     * result, which it writes then. All lie in pinned memory; an operation's slot is its own until it has ended, and the memory
     * goes only with the last. As the values never change meanwhile, the stream is registered as one whose values are fixed.
     *
     * An event behind the last operation says when all of them have ended. If it could not be recorded, it is recorded later.
     */
    private static final String KIND = "cufile.stream";
    private static final long ALIGNMENT = 4096;
    private static final long SLOT = 4 * Long.BYTES;

    /** The streams that are registered with cuFile, by their handles. */
    private static final Set<Long> REGISTERED = ConcurrentHashMap.newKeySet();

    private final Stream stream;
    private final Hold hold;
    private final MemorySegment handle;
    private final boolean aligned;
    private final PinnedMemory parameters;
    private final Event event;
    private final Slot[] slots;
    private boolean marked;

    /** Where the parameters and the result of an operation are. */
    private record Slot(MemorySegment bytes, MemorySegment position, MemorySegment offset, MemorySegment moved) {
        static Slot of(MemorySegment memory, long at) {
            return new Slot(
                    memory.asSlice(at, Long.BYTES),
                    memory.asSlice(at + Long.BYTES, Long.BYTES),
                    memory.asSlice(at + 2 * Long.BYTES, Long.BYTES),
                    memory.asSlice(at + 3 * Long.BYTES, Long.BYTES));
        }

        void fill(Operation operation) {
            bytes.set(JAVA_LONG, 0, operation.bytes());
            position.set(JAVA_LONG, 0, operation.position());
            offset.set(JAVA_LONG, 0, operation.offset());
            moved.set(JAVA_LONG, 0, 0);
        }

        long result() {
            return moved.get(JAVA_LONG, 0);
        }
    }

    private StreamTransfers(
            Driver driver,
            Stream stream,
            Hold hold,
            boolean aligned,
            PinnedMemory parameters,
            Event event,
            int capacity) {
        super(driver, KIND, "the transfers of a stream of " + stream.device(), capacity);
        this.stream = stream;
        this.hold = hold;
        this.handle = stream.handle();
        this.aligned = aligned;
        this.parameters = parameters;
        this.event = event;
        this.slots = new Slot[capacity];
        for (int i = 0; i < capacity; i++) {
            slots[i] = Slot.of(parameters.segment(), i * SLOT);
        }
    }

    /**
     * Creates empty ones; the stream is registered with cuFile until they are closed.
     *
     * @param capacity how many operations they can hold
     * @throws IllegalArgumentException if the capacity is not positive, or there are transfers for the stream already
     * @throws IllegalStateException if the stream or the driver is closed
     * @throws UnsupportedOperationException if cuFile is older than 1.7
     * @throws CuFileException if cuFile refuses
     * @throws CudaException if CUDA refuses
     */
    public static StreamTransfers create(Driver driver, Stream stream, int capacity) {
        return create(driver, stream, capacity, false);
    }

    /**
     * Creates empty ones for aligned operations only, which cuFile serves faster: positions, sizes, offsets and the addresses of
     * buffers are multiples of 4096. Otherwise like {@link #create}.
     */
    public static StreamTransfers createAligned(Driver driver, Stream stream, int capacity) {
        return create(driver, stream, capacity, true);
    }

    private static StreamTransfers create(Driver driver, Stream stream, int capacity, boolean aligned) {
        CuFile.requireFunction("cuFileReadAsync", "1.7");
        checkCapacity(capacity, 0);
        List<Runnable> undo = new ArrayList<>();
        try {
            driver.users().hold();
            undo.add(driver.users()::release);
            Hold hold = stream.hold();
            undo.add(hold::close);
            PinnedMemory parameters = PinnedMemory.allocate(stream.device(), capacity * SLOT);
            undo.add(parameters::close);
            Event event = Event.create(stream.device());
            undo.add(event::close);
            register(stream, aligned);
            StreamTransfers transfers = new StreamTransfers(driver, stream, hold, aligned, parameters, event, capacity);
            transfers.opened();
            return transfers;
        } catch (RuntimeException e) {
            FirstFailure failure = new FirstFailure();
            failure.add(e);
            undo.reversed().forEach(failure::in);
            throw e;
        }
    }

    private static void register(Stream stream, boolean aligned) {
        long key = stream.handle().address();
        if (!REGISTERED.add(key)) {
            throw new IllegalArgumentException(
                    "there are transfers for this stream of " + stream.device() + " already; use them, or close them");
        }
        try {
            stream.device().select();
            CuFileStatus.check(
                    "cuFileStreamRegister",
                    CuFileApi.cuFileStreamRegister(CuFileStatus.result(), stream.handle(), flags(aligned)),
                    "a stream of " + stream.device());
        } catch (RuntimeException e) {
            REGISTERED.remove(key);
            throw e;
        }
    }

    private static int flags(boolean aligned) {
        return CuFileApi.CU_FILE_STREAM_FIXED_BUF_OFFSET()
                | CuFileApi.CU_FILE_STREAM_FIXED_FILE_OFFSET()
                | CuFileApi.CU_FILE_STREAM_FIXED_FILE_SIZE()
                | (aligned ? CuFileApi.CU_FILE_STREAM_PAGE_ALIGNED_INPUTS() : 0);
    }

    /** Returns the stream. */
    public Stream stream() {
        return stream;
    }

    @Override
    void checkAlignment(RegisteredBuffer buffer, long offset, long bytes, long position) {
        if (aligned && (buffer.address() | offset | bytes | position) % ALIGNMENT != 0) {
            throw new IllegalArgumentException(this + " are for multiples of " + ALIGNMENT + " only, not for " + bytes
                    + " bytes at position " + position + " and offset " + offset + " of " + buffer);
        }
    }

    @Override
    void submit(int from, int to) {
        parameters.usedBy(stream);
        stream.device().select();
        try {
            for (int i = from; i < to; i++) {
                submit(i);
            }
        } finally {
            marked = tryMark();
        }
    }

    private void submit(int index) {
        Operation operation = operation(index);
        Slot slot = slots[index];
        slot.fill(operation);
        MemorySegment error = operation.isWrite() ? writeAsync(operation, slot) : readAsync(operation, slot);
        if (CuFileStatus.isFailure(error)) {
            refused(index, CUfileError.err(error), CUfileError.cu_err(error));
            throw CuFileStatus.exception(
                    function(operation),
                    error,
                    "operation " + index + ", " + operation + "; what was added before it is under way");
        }
        begun(index);
    }

    private MemorySegment readAsync(Operation operation, Slot slot) {
        return CuFileApi.cuFileReadAsync(
                CuFileStatus.result(),
                operation.file().handle(),
                operation.buffer().base(),
                slot.bytes,
                slot.position,
                slot.offset,
                slot.moved,
                handle);
    }

    private MemorySegment writeAsync(Operation operation, Slot slot) {
        return CuFileApi.cuFileWriteAsync(
                CuFileStatus.result(),
                operation.file().handle(),
                operation.buffer().base(),
                slot.bytes,
                slot.position,
                slot.offset,
                slot.moved,
                handle);
    }

    private boolean tryMark() {
        try {
            event.record(stream);
            return true;
        } catch (CudaException e) {
            // What was submitted is under way all the same; collect() tries again, and tells.
            return false;
        }
    }

    @Override
    void collect() {
        try {
            if (!marked) {
                event.record(stream);
                marked = true;
            }
            if (event.isDone()) {
                takeResults();
            }
        } catch (CudaException e) {
            if (!e.isContextLost()) {
                throw e;
            }
            // When the context is lost, so is all work.
            allFailed(CuFileApi.CU_FILE_CUDA_DRIVER_ERROR(), (int) e.code());
        }
    }

    private void takeResults() {
        for (int i = 0; i < size(); i++) {
            if (isInFlight(i)) {
                ended(i, slots[i].result());
            }
        }
    }

    @Override
    void destroy() {
        FirstFailure failure = new FirstFailure();
        failure.in(this::deregister);
        failure.in(parameters::close);
        failure.in(event::close);
        hold.close();
        failure.rethrow();
    }

    private void deregister() {
        REGISTERED.remove(handle.address());
        stream.device().select();
        CuFileStatus.check(
                "cuFileStreamDeregister",
                CuFileApi.cuFileStreamDeregister(CuFileStatus.result(), handle),
                "a stream of " + stream.device());
    }

    @Override
    String function(Operation operation) {
        return operation.isWrite() ? "cuFileWriteAsync" : "cuFileReadAsync";
    }
}
