package io.kvtier.bindings.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;

import io.kvtier.bindings.cuda.generated.CudaApi;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Host memory that cannot be moved or swapped out, so that devices copy from and to it at full speed while the host goes
 * on: either allocated so, or existing memory that is registered. Who allocates or registers it closes it.
 */
public final class PinnedMemory extends CudaMemory {
    /*
     * Allocated memory has an arena of its own: closing that makes the segment useless to Java before the runtime frees the
     * pages, and refuses while a native call holds the segment. Registered memory belongs to somebody else; the segment is
     * kept, so an automatic arena cannot free it while it is registered. If another arena does, the pages stay pinned and the
     * runtime goes on with an address that may come to mean other memory: close this first.
     */
    private static final String KIND = "cuda.pinnedMemory";

    private final MemorySegment segment;
    private final @Nullable Arena arena;
    private final Set<PinnedOption> options;

    private PinnedMemory(
            String title, Device device, MemorySegment segment, @Nullable Arena arena, Set<PinnedOption> options) {
        super(KIND, title, device, segment.address(), segment.byteSize());
        this.segment = segment;
        this.arena = arena;
        this.options = options;
    }

    /**
     * Allocates pinned memory. Its content is undefined.
     *
     * @param device the device that will use it most
     * @throws IllegalArgumentException if the size is not positive, or an option is not for allocated memory
     * @throws IllegalStateException if CUDA cannot be used here
     * @throws CudaException if the runtime refuses, for example because there is not enough memory
     */
    @SuppressWarnings("MustBeClosedChecker") // close() closes the arena
    public static PinnedMemory allocate(Device device, long byteSize, PinnedOption... options) {
        if (byteSize <= 0) {
            throw new IllegalArgumentException("pinned memory needs at least 1 byte, got " + byteSize);
        }
        Set<PinnedOption> set = allowed(PinnedOption.READ_ONLY, "registered", options);
        Cuda.require();
        int flags = flags(set);
        MemorySegment pointer = device.askPointer(
                "cudaHostAlloc",
                device + ", " + byteSize + " bytes, options " + set,
                out -> CudaApi.cudaHostAlloc(out, byteSize, flags));
        Arena arena = Arena.ofShared();
        return new PinnedMemory("pinned memory", device, CudaNative.hostMemory(pointer, byteSize, arena), arena, set);
    }

    /**
     * Pins existing memory. Address and size may be any, but whole pages are pinned, and no page can be pinned twice: align
     * both to pages where two registered ranges could meet. The limit for locked memory may apply.
     *
     * <p>The caller keeps owning the memory and must close this before he frees it.
     *
     * @param device the device that will use it most
     * @throws IllegalArgumentException if the memory is on the heap or empty, or read-only without
     *     {@link PinnedOption#READ_ONLY}, or an option is not for registered memory
     * @throws IllegalStateException if the memory is closed or belongs to another thread, or CUDA cannot be used here
     * @throws CudaException if the runtime refuses, for example because a page is pinned already
     */
    public static PinnedMemory register(Device device, MemorySegment memory, PinnedOption... options) {
        Set<PinnedOption> set = allowed(PinnedOption.WRITE_COMBINED, "allocated", options);
        requirePinnable(memory, set);
        Cuda.require();
        device.use();
        CudaStatus.check(
                "cudaHostRegister",
                CudaApi.cudaHostRegister(memory, memory.byteSize(), flags(set)),
                device + ", " + memory.byteSize() + " bytes at 0x" + Long.toHexString(memory.address()) + ", options "
                        + set);
        return new PinnedMemory("registered memory", device, memory, null, set);
    }

    /**
     * Returns the memory, for Java and for other native libraries. That of allocated memory can be used until this is
     * closed.
     *
     * @throws IllegalStateException if this is closed
     */
    public MemorySegment segment() {
        requireOpen();
        return segment;
    }

    /**
     * Returns the memory's address on the device.
     *
     * @throws IllegalStateException if this is closed, or was made without {@link PinnedOption#MAPPED}
     * @throws CudaException if the runtime refuses
     */
    public long deviceAddress() {
        if (!options.contains(PinnedOption.MAPPED)) {
            throw new IllegalStateException(
                    "the " + this + " must be made with MAPPED to have an address on the device");
        }
        enterOnDevice();
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment out = scratch.allocate(ADDRESS);
            CudaStatus.check("cudaHostGetDevicePointer", CudaApi.cudaHostGetDevicePointer(out, segment, 0), this);
            return out.get(ADDRESS, 0).address();
        } finally {
            exit();
        }
    }

    @Override
    void settle(long deadline) {
        super.settle(deadline);
        if (arena != null) {
            try {
                arena.close();
            } catch (IllegalStateException e) {
                throw new IllegalStateException(
                        "the " + this + " stays open: a native call uses it; close it again when that has ended", e);
            }
        }
    }

    @Override
    void release() {
        device().tryUse();
        // The segment may be closed; its address is what the runtime knows.
        MemorySegment pointer = MemorySegment.ofAddress(address());
        if (arena == null) {
            CudaStatus.check("cudaHostUnregister", CudaApi.cudaHostUnregister(pointer), this);
        } else {
            CudaStatus.check("cudaFreeHost", CudaApi.cudaFreeHost(pointer), this);
        }
    }

    @Override
    boolean isThere() {
        return segment.scope().isAlive();
    }

    @Override
    boolean isWritable() {
        return !options.contains(PinnedOption.READ_ONLY);
    }

    private static void requirePinnable(MemorySegment memory, Set<PinnedOption> options) {
        if (!memory.isNative()) {
            throw new IllegalArgumentException("only native memory can be pinned, got memory on the heap: " + memory);
        }
        if (!memory.scope().isAlive() || !memory.isAccessibleBy(Thread.currentThread())) {
            throw new IllegalStateException("the memory to pin is closed or belongs to another thread: " + memory);
        }
        if (memory.byteSize() == 0 || memory.address() == 0) {
            throw new IllegalArgumentException("pinned memory needs at least 1 byte, got " + memory);
        }
        if (memory.isReadOnly() && !options.contains(PinnedOption.READ_ONLY)) {
            throw new IllegalArgumentException(
                    "memory that is read-only must be pinned with READ_ONLY, got " + options);
        }
    }

    private static Set<PinnedOption> allowed(PinnedOption refused, String owner, PinnedOption... options) {
        Set<PinnedOption> set = EnumSet.noneOf(PinnedOption.class);
        set.addAll(Arrays.asList(options));
        if (set.contains(refused)) {
            throw new IllegalArgumentException(refused + " is for " + owner + " memory only, got " + set);
        }
        return set;
    }

    private static int flags(Set<PinnedOption> options) {
        // PORTABLE and MAPPED have the same values for both functions.
        return (options.contains(PinnedOption.PORTABLE) ? CudaApi.cudaHostAllocPortable() : 0)
                | (options.contains(PinnedOption.MAPPED) ? CudaApi.cudaHostAllocMapped() : 0)
                | (options.contains(PinnedOption.WRITE_COMBINED) ? CudaApi.cudaHostAllocWriteCombined() : 0)
                | (options.contains(PinnedOption.READ_ONLY) ? CudaApi.cudaHostRegisterReadOnly() : 0);
    }
}
