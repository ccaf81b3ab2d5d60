package io.kvtier.bindings.cuda;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Many copies that are handed over in one call, for example the pages of a KV cache. Fill it, submit it, clear it, and fill
 * it again: it keeps its arrays, and allocates only when it grows. For one thread at a time; nothing is to be closed.
 *
 * <p>The copies of a batch run in no particular order among each other, so none may write what another one reads or writes.
 * Runtimes before 12.8 get one call for each copy.
 */
public final class CopyBatch {
    /** The most copies that a batch can hold. */
    public static final int MAX_COPIES = 1 << 20;

    private static final int NOT_BLAMED = -1;

    private final List<CudaMemory> to = new ArrayList<>();
    private final List<CudaMemory> from = new ArrayList<>();
    private final MemorySegment failed = Arena.ofAuto().allocate(JAVA_LONG);
    private int capacity;
    private MemorySegment toAddresses;
    private MemorySegment fromAddresses;
    private MemorySegment sizes;

    /**
     * Creates an empty batch.
     *
     * @param capacity for how many copies it has room before it grows
     * @throws IllegalArgumentException if the capacity is not from 1 to {@link #MAX_COPIES}
     */
    public CopyBatch(int capacity) {
        if (capacity < 1 || capacity > MAX_COPIES) {
            throw new IllegalArgumentException("a batch holds from 1 to " + MAX_COPIES + " copies, got " + capacity);
        }
        this.capacity = capacity;
        this.toAddresses = array(capacity);
        this.fromAddresses = array(capacity);
        this.sizes = array(capacity);
    }

    /**
     * Adds a copy; one of nothing is left out. Memory that is closed is refused when the batch is submitted.
     *
     * @throws IndexOutOfBoundsException if a range does not lie within its memory
     * @throws IllegalArgumentException if the ranges overlap, or what would be written is read-only
     * @throws IllegalStateException if the batch holds {@link #MAX_COPIES}
     */
    public void add(CudaMemory target, long toOffset, CudaMemory source, long fromOffset, long byteSize) {
        Copies.check(target, toOffset, source, fromOffset, byteSize);
        if (byteSize == 0) {
            return;
        }
        int index = to.size();
        ensureRoomFor(index);
        toAddresses.setAtIndex(JAVA_LONG, index, target.address() + toOffset);
        fromAddresses.setAtIndex(JAVA_LONG, index, source.address() + fromOffset);
        sizes.setAtIndex(JAVA_LONG, index, byteSize);
        to.add(target);
        from.add(source);
    }

    /** Returns how many copies there are. */
    public int size() {
        return to.size();
    }

    /** Forgets the copies, but keeps the room. */
    public void clear() {
        to.clear();
        from.clear();
    }

    /**
     * Puts all copies on a stream. The batch can be cleared or submitted again at once.
     *
     * @throws IllegalStateException if the stream or memory is closed; nothing is copied then
     * @throws CudaException if the runtime refuses; some copies may have been put on the stream then
     */
    public void submit(Stream stream) {
        if (to.isEmpty()) {
            return;
        }
        int entered = 0;
        try {
            for (; entered < to.size(); entered++) {
                enter(entered, stream);
            }
            submitOn(stream);
        } finally {
            for (int i = 0; i < entered; i++) {
                to.get(i).exit();
                from.get(i).exit();
            }
        }
    }

    private void submitOn(Stream stream) {
        // Selects the device, so nothing may block from here to the call: a virtual thread could go on elsewhere.
        stream.enter();
        try {
            if (BatchNative.isThere()) {
                submitAtOnce(stream);
            } else {
                submitOneByOne(stream);
            }
        } finally {
            stream.exit();
        }
    }

    private void enter(int index, Stream stream) {
        CudaMemory target = to.get(index);
        target.enter(stream);
        try {
            from.get(index).enter(stream);
        } catch (RuntimeException e) {
            target.exit();
            throw e;
        }
    }

    private void submitAtOnce(Stream stream) {
        failed.set(JAVA_LONG, 0, NOT_BLAMED);
        int status = BatchNative.memcpyBatch(toAddresses, fromAddresses, sizes, to.size(), failed, stream.handle());
        if (status != CudaStatus.SUCCESS) {
            throw CudaStatus.failure(
                    "cudaMemcpyBatchAsync", status, to.size() + " copies" + blame(failed.get(JAVA_LONG, 0)));
        }
    }

    private void submitOneByOne(Stream stream) {
        for (int i = 0; i < to.size(); i++) {
            Copies.copyAt(
                    stream,
                    to.get(i),
                    toAddresses.getAtIndex(JAVA_LONG, i),
                    from.get(i),
                    fromAddresses.getAtIndex(JAVA_LONG, i),
                    sizes.getAtIndex(JAVA_LONG, i));
        }
    }

    private String blame(long index) {
        if (index < 0 || index >= to.size()) {
            return "";
        }
        return ", copy " + index + ": " + sizes.getAtIndex(JAVA_LONG, index) + " bytes from " + from.get((int) index)
                + " to " + to.get((int) index);
    }

    private void ensureRoomFor(int index) {
        if (index == MAX_COPIES) {
            throw new IllegalStateException("the batch holds " + MAX_COPIES + " copies, more do not go into one");
        }
        if (index == capacity) {
            capacity = Math.min(2 * capacity, MAX_COPIES);
            toAddresses = grown(toAddresses);
            fromAddresses = grown(fromAddresses);
            sizes = grown(sizes);
        }
    }

    private MemorySegment grown(MemorySegment old) {
        return array(capacity).copyFrom(old);
    }

    private static MemorySegment array(int length) {
        return Arena.ofAuto().allocate(JAVA_LONG, length);
    }
}
