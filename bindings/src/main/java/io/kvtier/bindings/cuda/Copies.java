package io.kvtier.bindings.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.kvtier.bindings.cuda.generated.CudaApi;
import io.kvtier.bindings.cuda.generated.cudaExtent;
import io.kvtier.bindings.cuda.generated.cudaMemcpy3DParms;
import io.kvtier.bindings.cuda.generated.cudaPitchedPtr;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Copies between host and devices, between devices, and within them. Each call only puts work on a stream and returns; what
 * it did shows in the stream. The memory stays open until then. No call allocates.
 *
 * <p>What is common to all: an {@link IndexOutOfBoundsException} if a range does not lie within its memory, an
 * {@link IllegalArgumentException} if ranges of the same memory overlap or what would be written is read-only, an
 * {@link IllegalStateException} if the stream or memory is closed, and a {@link CudaException} if the runtime refuses.
 * Copying nothing does nothing.
 */
public final class Copies {
    private static final ThreadLocal<MemorySegment> BOX =
            ThreadLocal.withInitial(() -> cudaMemcpy3DParms.allocate(Arena.ofAuto()));
    private static final long BOX_FROM = cudaMemcpy3DParms.srcPtr$offset();
    private static final long BOX_TO = cudaMemcpy3DParms.dstPtr$offset();
    private static final long BOX_EXTENT = cudaMemcpy3DParms.extent$offset();

    private Copies() {}

    /** Copies bytes. Between devices that cannot reach each other they go through the host. */
    public static void copy(
            Stream stream, CudaMemory to, long toOffset, CudaMemory from, long fromOffset, long byteSize) {
        check(to, toOffset, from, fromOffset, byteSize);
        enter(stream, to, from);
        try {
            if (byteSize != 0) {
                copyAt(stream, to, to.address() + toOffset, from, from.address() + fromOffset, byteSize);
            }
        } finally {
            exit(stream, to, from);
        }
    }

    /**
     * Copies bytes from host memory that is not pinned: slower, and the call may last as long as the copy. Nothing watches
     * that memory after the call: it must stay open and unchanged until the stream is done.
     *
     * @throws IllegalArgumentException if the memory is on the heap
     */
    public static void copy(
            Stream stream, DeviceMemory to, long toOffset, MemorySegment from, long fromOffset, long byteSize) {
        requireNative(from, fromOffset, byteSize);
        Ranges.check(to, toOffset, byteSize, to.byteSize());
        enter(stream, to, to);
        try {
            if (byteSize != 0) {
                int status = CudaNative.memcpyFromHost(
                        to.address() + toOffset, from.asSlice(fromOffset, byteSize), byteSize, stream.handle());
                checkUnpinned(status, byteSize, to);
            }
        } finally {
            exit(stream, to, to);
        }
    }

    /**
     * Copies bytes to host memory that is not pinned: slower, and the call may last as long as the copy. Nothing watches that
     * memory after the call: it must stay open until the stream is done.
     *
     * @throws IllegalArgumentException if the memory is on the heap or read-only
     */
    public static void copy(
            Stream stream, MemorySegment to, long toOffset, DeviceMemory from, long fromOffset, long byteSize) {
        requireNative(to, toOffset, byteSize);
        if (to.isReadOnly()) {
            throw new IllegalArgumentException("the memory to copy to is read-only: " + to);
        }
        Ranges.check(from, fromOffset, byteSize, from.byteSize());
        enter(stream, from, from);
        try {
            if (byteSize != 0) {
                int status = CudaNative.memcpyToHost(
                        to.asSlice(toOffset, byteSize), from.address() + fromOffset, byteSize, stream.handle());
                checkUnpinned(status, byteSize, from);
            }
        } finally {
            exit(stream, from, from);
        }
    }

    /**
     * Copies rows of bytes.
     *
     * @param width bytes of a row
     * @param height number of rows
     * @throws IllegalArgumentException if the rows do not fit into a pitch
     */
    public static void copy2D(Stream stream, Pitched to, Pitched from, long width, long height) {
        checkBoxes(to, from, width, height, 1);
        enter(stream, to.memory(), from.memory());
        try {
            if (width != 0 && height != 0) {
                int status = CudaNative.memcpy2D(
                        to.address(),
                        to.pitch(),
                        from.address(),
                        from.pitch(),
                        width,
                        height,
                        kind(to.memory(), from.memory()),
                        stream.handle());
                if (status != CudaStatus.SUCCESS) {
                    throw failure("cudaMemcpy2DAsync", status, to, from, width, height, 1);
                }
            }
        } finally {
            exit(stream, to.memory(), from.memory());
        }
    }

    /**
     * Copies slices of rows of bytes.
     *
     * @param width bytes of a row
     * @param height rows of a slice
     * @param depth number of slices
     * @throws IllegalArgumentException if the rows do not fit into a pitch or a slice
     */
    public static void copy3D(Stream stream, Pitched to, Pitched from, long width, long height, long depth) {
        checkBoxes(to, from, width, height, depth);
        enter(stream, to.memory(), from.memory());
        try {
            if (width != 0 && height != 0 && depth != 0) {
                int status = CudaApi.cudaMemcpy3DAsync(box(to, from, width, height, depth), stream.handle());
                if (status != CudaStatus.SUCCESS) {
                    throw failure("cudaMemcpy3DAsync", status, to, from, width, height, depth);
                }
            }
        } finally {
            exit(stream, to.memory(), from.memory());
        }
    }

    /** Sets bytes of a device's memory to a value. */
    public static void fill(Stream stream, DeviceMemory to, long offset, long byteSize, byte value) {
        Ranges.check(to, offset, byteSize, to.byteSize());
        enter(stream, to, to);
        try {
            if (byteSize != 0) {
                int status = CudaNative.memset(to.address() + offset, value & 0xff, byteSize, stream.handle());
                if (status != CudaStatus.SUCCESS) {
                    throw CudaStatus.failure("cudaMemsetAsync", status, byteSize + " bytes at " + offset + " of " + to);
                }
            }
        } finally {
            exit(stream, to, to);
        }
    }

    /** Copies within memory that is entered, with ranges that were checked. */
    static void copyAt(Stream stream, CudaMemory to, long toAddress, CudaMemory from, long fromAddress, long byteSize) {
        int toDevice = to.device().ordinal();
        int fromDevice = from.device().ordinal();
        boolean peers = toDevice != fromDevice && to instanceof DeviceMemory && from instanceof DeviceMemory;
        int status = peers
                ? CudaNative.memcpyPeer(toAddress, toDevice, fromAddress, fromDevice, byteSize, stream.handle())
                : CudaNative.memcpy(toAddress, fromAddress, byteSize, kind(to, from), stream.handle());
        if (status != CudaStatus.SUCCESS) {
            throw CudaStatus.failure(
                    peers ? "cudaMemcpyPeerAsync" : "cudaMemcpyAsync",
                    status,
                    byteSize + " bytes from " + (fromAddress - from.address()) + " of " + from + " to "
                            + (toAddress - to.address()) + " of " + to);
        }
    }

    /** Refuses what must not be copied. */
    static void check(CudaMemory to, long toOffset, CudaMemory from, long fromOffset, long byteSize) {
        Ranges.check(to, toOffset, byteSize, to.byteSize());
        Ranges.check(from, fromOffset, byteSize, from.byteSize());
        requireWritable(to);
        if (to == from && toOffset < fromOffset + byteSize && fromOffset < toOffset + byteSize) {
            throw new IllegalArgumentException("ranges of a copy must not overlap: " + byteSize + " bytes from "
                    + fromOffset + " to " + toOffset + " of the same " + to);
        }
    }

    /** Keeps all three open during a call and selects the stream's device; {@link #exit} must follow. */
    private static void enter(Stream stream, CudaMemory to, CudaMemory from) {
        to.enter(stream);
        try {
            from.enter(stream);
            try {
                stream.enter();
            } catch (RuntimeException e) {
                from.exit();
                throw e;
            }
        } catch (RuntimeException e) {
            to.exit();
            throw e;
        }
    }

    private static void exit(Stream stream, CudaMemory to, CudaMemory from) {
        stream.exit();
        from.exit();
        to.exit();
    }

    private static void checkUnpinned(int status, long byteSize, DeviceMemory device) {
        if (status != CudaStatus.SUCCESS) {
            throw CudaStatus.failure(
                    "cudaMemcpyAsync", status, byteSize + " bytes between unpinned host memory and " + device);
        }
    }

    private static int kind(CudaMemory to, CudaMemory from) {
        if (to instanceof DeviceMemory) {
            return from instanceof DeviceMemory ? CudaApi.cudaMemcpyDeviceToDevice() : CudaApi.cudaMemcpyHostToDevice();
        }
        return from instanceof DeviceMemory ? CudaApi.cudaMemcpyDeviceToHost() : CudaApi.cudaMemcpyHostToHost();
    }

    private static MemorySegment box(Pitched to, Pitched from, long width, long height, long depth) {
        MemorySegment box = BOX.get();
        writePlace(box, BOX_FROM, from, width, height);
        writePlace(box, BOX_TO, to, width, height);
        box.set(JAVA_LONG, BOX_EXTENT + cudaExtent.width$offset(), width);
        box.set(JAVA_LONG, BOX_EXTENT + cudaExtent.height$offset(), height);
        box.set(JAVA_LONG, BOX_EXTENT + cudaExtent.depth$offset(), depth);
        box.set(JAVA_INT, cudaMemcpy3DParms.kind$offset(), kind(to.memory(), from.memory()));
        return box;
    }

    private static void writePlace(MemorySegment box, long at, Pitched place, long width, long height) {
        box.set(JAVA_LONG, at + cudaPitchedPtr.ptr$offset(), place.address());
        box.set(JAVA_LONG, at + cudaPitchedPtr.pitch$offset(), place.pitch());
        box.set(JAVA_LONG, at + cudaPitchedPtr.xsize$offset(), width);
        box.set(JAVA_LONG, at + cudaPitchedPtr.ysize$offset(), Math.max(place.rows(), height));
    }

    private static void checkBoxes(Pitched to, Pitched from, long width, long height, long depth) {
        Ranges.checkBox(to, width, height, depth);
        Ranges.checkBox(from, width, height, depth);
        requireWritable(to.memory());
        if (to.memory() == from.memory() && Ranges.boxesOverlap(to, from, width, height, depth)) {
            throw new IllegalArgumentException("boxes of a copy must not overlap: " + width + " bytes x " + height
                    + " rows x " + depth + " slices from " + from + " to " + to);
        }
    }

    private static void requireWritable(CudaMemory to) {
        if (!to.isWritable()) {
            throw new IllegalArgumentException("the " + to + " is read-only, copies cannot go to it");
        }
    }

    private static void requireNative(MemorySegment memory, long offset, long byteSize) {
        if (!memory.isNative()) {
            throw new IllegalArgumentException("copies need native memory, got memory on the heap: " + memory);
        }
        if (!memory.scope().isAlive() || !memory.isAccessibleBy(Thread.currentThread())) {
            throw new IllegalStateException("the memory is closed or belongs to another thread: " + memory);
        }
        Ranges.check(memory, offset, byteSize, memory.byteSize());
    }

    private static CudaException failure(
            String function, int status, Pitched to, Pitched from, long width, long height, long depth) {
        return CudaStatus.failure(
                function,
                status,
                width + " bytes x " + height + " rows x " + depth + " slices from " + from + " to " + to);
    }
}
