package io.kvtier.bindings.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.kvtier.bindings.Hold;
import io.kvtier.bindings.cuda.generated.CudaApi;
import io.kvtier.bindings.cuda.generated.cudaIpcMemHandle_st;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Memory on a device. Its address means nothing to the host, so it is a number and never a segment. Who allocates it
 * closes it.
 */
public final class DeviceMemory extends CudaMemory {
    /*
     * Stream-ordered memory is freed by the stream that allocated it, its owner: close() lets the owner wait for the other
     * streams that use the memory, and then puts the release on it. The owner is kept open from the one to the other. If it
     * is closed, or about to be, close() waits for all work itself and frees like other memory, which is not ordered.
     */
    private static final String KIND = "cuda.deviceMemory";

    private enum Origin {
        PLAIN,
        STREAM_ORDERED,
        OTHER_PROCESS
    }

    private final MemorySegment pointer;
    private final Origin origin;
    private final @Nullable Stream owner;
    private final @Nullable Hold pool;
    private boolean freedByOwner;

    private DeviceMemory(
            Device device,
            MemorySegment pointer,
            long byteSize,
            Origin origin,
            @Nullable Stream owner,
            @Nullable Hold pool) {
        super(KIND, "device memory", device, pointer.address(), byteSize);
        this.pointer = pointer;
        this.origin = origin;
        this.owner = owner;
        this.pool = pool;
    }

    /**
     * Allocates memory, at once. Both this and closing it may wait for all work of the device.
     *
     * @throws IllegalArgumentException if the size is not positive
     * @throws IllegalStateException if CUDA cannot be used here
     * @throws CudaException if the runtime refuses, for example because there is not enough memory
     */
    public static DeviceMemory allocate(Device device, long byteSize) {
        requirePositive(byteSize);
        Cuda.require();
        MemorySegment pointer = device.askPointer(
                "cudaMalloc", device + ", " + byteSize + " bytes", out -> CudaApi.cudaMalloc(out, byteSize));
        return new DeviceMemory(device, pointer, byteSize, Origin.PLAIN, null, null);
    }

    /**
     * Allocates memory of the device's default pool in the order of a stream: work that is put on it later can use the
     * memory, work of another stream only if it waits for that. Closing it does not block but frees it in that order too,
     * behind all work that uses it; if the stream is closed by then, it is freed like other memory.
     *
     * @throws IllegalArgumentException if the size is not positive
     * @throws IllegalStateException if the stream is closed
     * @throws CudaException if the runtime refuses, for example because there is not enough memory or no support
     */
    public static DeviceMemory allocateAsync(Stream stream, long byteSize) {
        requirePositive(byteSize);
        MemorySegment pointer = ask(
                stream,
                "cudaMallocAsync",
                stream.device() + ", " + byteSize + " bytes",
                out -> CudaApi.cudaMallocAsync(out, byteSize, stream.handle()));
        return ordered(stream.device(), stream, pointer, byteSize, null);
    }

    /**
     * Allocates memory of a pool in the order of a stream; otherwise like {@link #allocateAsync}. The pool can be closed
     * only after it.
     *
     * @throws IllegalArgumentException if the size is not positive
     * @throws IllegalStateException if the pool or the stream is closed
     * @throws CudaException if the runtime refuses, for example because there is not enough memory
     */
    public static DeviceMemory allocateFrom(MemoryPool pool, Stream stream, long byteSize) {
        requirePositive(byteSize);
        Hold hold = pool.hold();
        try {
            MemorySegment pointer = ask(
                    stream,
                    "cudaMallocFromPoolAsync",
                    pool + ", stream of " + stream.device() + ", " + byteSize + " bytes",
                    out -> CudaApi.cudaMallocFromPoolAsync(out, byteSize, pool.handle(), stream.handle()));
            return ordered(pool.device(), stream, pointer, byteSize, hold);
        } catch (RuntimeException e) {
            hold.close();
            throw e;
        }
    }

    /**
     * Opens memory of another process. That process must not close it before this one has.
     *
     * @throws IllegalStateException if CUDA cannot be used here
     * @throws CudaException if the runtime refuses, for example because the handle is from this process
     */
    public static DeviceMemory open(Device device, IpcMemoryHandle shared) {
        Cuda.require();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocateFrom(JAVA_BYTE, shared.toBytes());
            MemorySegment pointer = device.askPointer(
                    "cudaIpcOpenMemHandle",
                    device + ", " + shared.byteSize() + " bytes",
                    out -> CudaApi.cudaIpcOpenMemHandle(out, bytes, CudaApi.cudaIpcMemLazyEnablePeerAccess()));
            return new DeviceMemory(device, pointer, shared.byteSize(), Origin.OTHER_PROCESS, null, null);
        }
    }

    /**
     * Returns what another process needs to open the memory; see {@link #open}. It may see the rest of a small allocation's
     * page of 2 MiB too.
     *
     * @throws IllegalStateException if the memory does not come from {@link #allocate}, or is closed
     * @throws CudaException if the runtime refuses
     */
    public IpcMemoryHandle ipcHandle() {
        if (origin != Origin.PLAIN) {
            throw new IllegalStateException("only memory that was allocated plainly can be opened by other processes, "
                    + this + " is " + origin);
        }
        enterOnDevice();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = cudaIpcMemHandle_st.allocate(arena);
            CudaStatus.check("cudaIpcGetMemHandle", CudaApi.cudaIpcGetMemHandle(out, pointer), this);
            return IpcMemoryHandle.of(out.toArray(JAVA_BYTE), byteSize());
        } finally {
            exit();
        }
    }

    @Override
    void settle(long deadline) {
        freedByOwner = owner != null && waitsForOthers(owner);
        if (!freedByOwner) {
            super.settle(deadline);
        }
    }

    @Override
    void release() {
        try {
            if (owner != null && freedByOwner) {
                freeInOrder(owner);
            } else {
                device().tryUse();
                free();
            }
        } finally {
            if (pool != null) {
                pool.close();
            }
        }
    }

    @Override
    boolean isThere() {
        return true;
    }

    @Override
    boolean isWritable() {
        return true;
    }

    /** Returns true if the stream is open, stays so until it is exited, and waits for all others that use the memory. */
    private boolean waitsForOthers(Stream stream) {
        boolean waits = false;
        try {
            if (!stream.tryEnter()) {
                return false;
            }
            try {
                waits = uses().open().stream().allMatch(user -> user == stream || stream.follow(user));
            } finally {
                if (!waits) {
                    stream.exit();
                }
            }
        } catch (CudaException e) {
            // When the context is lost, no stream can wait any more.
            if (!e.isContextLost()) {
                throw e;
            }
        }
        return waits;
    }

    private void freeInOrder(Stream stream) {
        try {
            stream.device().tryUse();
            CudaStatus.check("cudaFreeAsync", CudaApi.cudaFreeAsync(pointer, stream.handle()), this);
        } finally {
            stream.exit();
        }
    }

    private void free() {
        if (origin == Origin.OTHER_PROCESS) {
            CudaStatus.check("cudaIpcCloseMemHandle", CudaApi.cudaIpcCloseMemHandle(pointer), this);
        } else {
            CudaStatus.check("cudaFree", CudaApi.cudaFree(pointer), this);
        }
    }

    private static DeviceMemory ordered(
            Device device, Stream stream, MemorySegment pointer, long byteSize, @Nullable Hold pool) {
        DeviceMemory memory = new DeviceMemory(device, pointer, byteSize, Origin.STREAM_ORDERED, stream, pool);
        memory.uses().add(stream);
        return memory;
    }

    private static MemorySegment ask(Stream stream, String function, String arguments, Device.Question question) {
        stream.enter();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ADDRESS);
            CudaStatus.check(function, question.ask(out), arguments);
            return out.get(ADDRESS, 0);
        } finally {
            stream.exit();
        }
    }

    private static void requirePositive(long byteSize) {
        if (byteSize <= 0) {
            throw new IllegalArgumentException("device memory needs at least 1 byte, got " + byteSize);
        }
    }
}
