package io.kvtier.bindings.cuda;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.kvtier.bindings.Hold;
import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.cuda.generated.CudaApi;
import io.kvtier.bindings.cuda.generated.cudaMemAccessDesc;
import io.kvtier.bindings.cuda.generated.cudaMemLocation;
import io.kvtier.bindings.cuda.generated.cudaMemPoolProps;
import io.kvtier.bindings.internal.Backoff;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Where stream-ordered memory comes from; see {@link DeviceMemory#allocateFrom}. It keeps freed memory for the next
 * allocation, as much as its release threshold says. Safe for all threads. Who creates it closes it.
 */
public final class MemoryPool implements AutoCloseable {
    private static final String KIND = "cuda.pool";

    private final Device device;
    private final MemorySegment handle;
    private final boolean owned;
    private final Guard guard;

    private MemoryPool(Device device, MemorySegment handle, boolean owned) {
        this.device = device;
        this.handle = handle;
        this.owned = owned;
        this.guard = new Guard("memory pool", device);
        NativeHandles.opened(KIND);
    }

    /**
     * Creates a pool of a device's memory.
     *
     * @throws IllegalStateException if CUDA cannot be used here
     * @throws CudaException if the runtime refuses, for example because the device has no pools
     */
    public static MemoryPool create(Device device) {
        Cuda.require();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment properties = cudaMemPoolProps.allocate(arena);
            cudaMemPoolProps.allocType(properties, CudaApi.cudaMemAllocationTypePinned());
            locate(cudaMemPoolProps.location(properties), device);
            MemorySegment handle = device.askPointer(
                    "cudaMemPoolCreate", device.toString(), out -> CudaApi.cudaMemPoolCreate(out, properties));
            return new MemoryPool(device, handle, true);
        }
    }

    /**
     * Returns the pool that {@link DeviceMemory#allocateAsync} uses. Closing it only ends this view of it.
     *
     * @throws IllegalStateException if CUDA cannot be used here
     * @throws CudaException if the runtime refuses, for example because the device has no pools
     */
    public static MemoryPool ofDefault(Device device) {
        Cuda.require();
        MemorySegment handle = device.askPointer(
                "cudaDeviceGetDefaultMemPool",
                device.toString(),
                out -> CudaApi.cudaDeviceGetDefaultMemPool(out, device.ordinal()));
        return new MemoryPool(device, handle, false);
    }

    /** Returns the device whose memory it is. */
    public Device device() {
        return device;
    }

    /** Returns how many bytes the pool keeps from the device, used or not. */
    public long reservedBytes() {
        return get(CudaApi.cudaMemPoolAttrReservedMemCurrent());
    }

    /** Returns how many bytes are allocated. */
    public long usedBytes() {
        return get(CudaApi.cudaMemPoolAttrUsedMemCurrent());
    }

    /** Returns how many free bytes the pool keeps at most when a stream, event or device is synchronised; 0 at first. */
    public long releaseThreshold() {
        return get(CudaApi.cudaMemPoolAttrReleaseThreshold());
    }

    /**
     * Says how many free bytes the pool keeps at most when a stream, event or device is synchronised.
     *
     * @throws IllegalArgumentException if the number is negative
     */
    public void setReleaseThreshold(long bytes) {
        requireNotNegative(bytes);
        enter();
        try (Arena arena = Arena.ofConfined()) {
            int status = CudaApi.cudaMemPoolSetAttribute(
                    handle, CudaApi.cudaMemPoolAttrReleaseThreshold(), arena.allocateFrom(JAVA_LONG, bytes));
            CudaStatus.check("cudaMemPoolSetAttribute", status, this + ", release threshold " + bytes);
        } finally {
            exit();
        }
    }

    /**
     * Gives free memory back to the device.
     *
     * @param keep how many bytes the pool may keep
     * @throws IllegalArgumentException if the number is negative
     */
    public void trimTo(long keep) {
        requireNotNegative(keep);
        enter();
        try {
            CudaStatus.check("cudaMemPoolTrimTo", CudaApi.cudaMemPoolTrimTo(handle, keep), this + ", keep " + keep);
        } finally {
            exit();
        }
    }

    /** Lets another device read and write the pool's memory, present and future. */
    public void enableAccess(Device peer) {
        setAccess(peer, CudaApi.cudaMemAccessFlagsProtReadWrite());
    }

    /** Ends what {@link #enableAccess} began. */
    public void disableAccess(Device peer) {
        setAccess(peer, CudaApi.cudaMemAccessFlagsProtNone());
    }

    /**
     * Destroys the pool, unless it is a device's default pool. Closing twice does nothing.
     *
     * @throws IllegalStateException if memory of it is not closed, which counts as a holder, or another thread stays in a
     *     call for 10 seconds: the pool stays open
     * @throws CudaException if the runtime tells of an error; the pool is closed nevertheless
     */
    @Override
    public synchronized void close() {
        if (guard.isClosed()) {
            return;
        }
        guard.shut(Backoff.deadline(Guard.CLOSE_WAIT));
        guard.end();
        NativeHandles.closed(KIND);
        if (owned) {
            device.tryUse();
            CudaStatus.check("cudaMemPoolDestroy", CudaApi.cudaMemPoolDestroy(handle), this);
        }
    }

    /** Returns whether {@link #close} destroyed the pool, or had to give it up. */
    public boolean isClosed() {
        return guard.isClosed();
    }

    @Override
    public String toString() {
        return guard.toString();
    }

    MemorySegment handle() {
        return handle;
    }

    /** Lets a call in: the pool stays open until {@link #exit}, and its device is selected on this thread. */
    private void enter() {
        guard.enterOnDevice();
    }

    private void exit() {
        guard.exit();
    }

    /** Keeps the pool open until the result is closed. */
    Hold hold() {
        return guard.hold();
    }

    private long get(int attribute) {
        enter();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(JAVA_LONG);
            CudaStatus.check(
                    "cudaMemPoolGetAttribute",
                    CudaApi.cudaMemPoolGetAttribute(handle, attribute, value),
                    this + ", attribute " + attribute);
            return value.get(JAVA_LONG, 0);
        } finally {
            exit();
        }
    }

    private void setAccess(Device peer, int flags) {
        enter();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment access = cudaMemAccessDesc.allocate(arena);
            locate(cudaMemAccessDesc.location(access), peer);
            cudaMemAccessDesc.flags(access, flags);
            CudaStatus.check(
                    "cudaMemPoolSetAccess",
                    CudaApi.cudaMemPoolSetAccess(handle, access, 1),
                    this + ", peer " + peer + ", flags " + flags);
        } finally {
            exit();
        }
    }

    private static void locate(MemorySegment location, Device device) {
        cudaMemLocation.type(location, CudaApi.cudaMemLocationTypeDevice());
        cudaMemLocation.id(location, device.ordinal());
    }

    private static void requireNotNegative(long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("a number of bytes must not be negative, got " + bytes);
        }
    }
}
