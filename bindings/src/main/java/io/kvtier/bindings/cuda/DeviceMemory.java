package io.kvtier.bindings.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;

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
    private static final String KIND = "cuda.deviceMemory";

    private enum Origin {
        PLAIN,
        STREAM_ORDERED,
        OTHER_PROCESS
    }

    private final MemorySegment pointer;
    private final Origin origin;
    private final @Nullable Stream stream;
    private final @Nullable MemoryPool pool;

    private DeviceMemory(
            Device device,
            MemorySegment pointer,
            long byteSize,
            Origin origin,
            @Nullable Stream stream,
            @Nullable MemoryPool pool) {
        super(KIND, "device memory", device, pointer.address(), byteSize);
        this.pointer = pointer;
        this.origin = origin;
        this.stream = stream;
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
        stream.enter();
        try {
            MemorySegment pointer = ask(
                    "cudaMallocAsync",
                    stream.device() + ", " + byteSize + " bytes",
                    out -> CudaApi.cudaMallocAsync(out, byteSize, stream.handle()));
            return ordered(stream, pointer, byteSize, null);
        } finally {
            stream.exit();
        }
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
        pool.enter();
        try {
            stream.enter();
            try {
                MemorySegment pointer = ask(
                        "cudaMallocFromPoolAsync",
                        pool + ", stream of " + stream.device() + ", " + byteSize + " bytes",
                        out -> CudaApi.cudaMallocFromPoolAsync(out, byteSize, pool.handle(), stream.handle()));
                pool.allocated();
                return ordered(stream, pointer, byteSize, pool);
            } finally {
                stream.exit();
            }
        } finally {
            pool.exit();
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
            CudaStatus.check("cudaIpcGetMemHandle", CudaApi.cudaIpcGetMemHandle(out, pointer), toString());
            return IpcMemoryHandle.of(out.toArray(JAVA_BYTE), byteSize());
        } finally {
            exit();
        }
    }

    @Override
    void settle(long deadline) {
        if (stream != null && stream.tryEnter()) {
            try {
                if (followsAllUses(stream)) {
                    return;
                }
            } finally {
                stream.exit();
            }
        }
        super.settle(deadline);
    }

    @Override
    void release() {
        try {
            if (stream != null && stream.tryEnter()) {
                freeInOrder(stream);
            } else {
                device().tryUse();
                free();
            }
        } finally {
            if (pool != null) {
                pool.freed();
            }
        }
    }

    @Override
    boolean isWritable() {
        return true;
    }

    private boolean followsAllUses(Stream owner) {
        return uses().open().stream().allMatch(user -> user == owner || owner.follow(user));
    }

    private void freeInOrder(Stream owner) {
        try {
            CudaStatus.check("cudaFreeAsync", CudaApi.cudaFreeAsync(pointer, owner.handle()), toString());
        } finally {
            owner.exit();
        }
    }

    private void free() {
        if (origin == Origin.OTHER_PROCESS) {
            CudaStatus.check("cudaIpcCloseMemHandle", CudaApi.cudaIpcCloseMemHandle(pointer), toString());
        } else {
            CudaStatus.check("cudaFree", CudaApi.cudaFree(pointer), toString());
        }
    }

    private static DeviceMemory ordered(
            Stream stream, MemorySegment pointer, long byteSize, @Nullable MemoryPool pool) {
        Device device = pool == null ? stream.device() : pool.device();
        DeviceMemory memory = new DeviceMemory(device, pointer, byteSize, Origin.STREAM_ORDERED, stream, pool);
        memory.uses().add(stream);
        return memory;
    }

    private static MemorySegment ask(String function, String arguments, Device.Question question) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ADDRESS);
            CudaStatus.check(function, question.ask(out), arguments);
            return out.get(ADDRESS, 0);
        }
    }

    private static void requirePositive(long byteSize) {
        if (byteSize <= 0) {
            throw new IllegalArgumentException("device memory needs at least 1 byte, got " + byteSize);
        }
    }
}
