package io.kvtier.bindings.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.kvtier.bindings.cuda.generated.CUuuid_st;
import io.kvtier.bindings.cuda.generated.CudaApi;
import io.kvtier.bindings.cuda.generated.cudaDeviceProp;
import io.kvtier.bindings.internal.NativeLibraries;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.UUID;

/**
 * A GPU, by its ordinal among those that this process sees ({@code CUDA_VISIBLE_DEVICES}). A value: nothing is to be
 * closed.
 *
 * <p>CUDA knows a current device for each thread of the operating system. All of kvtier's calls select theirs first, on
 * the thread that makes the call, and leave it selected; so no work and no context ever ends up on the wrong device, on
 * virtual threads neither.
 *
 * @param ordinal the number, from 0
 */
public record Device(int ordinal) {
    private static final int BUS_ID_LENGTH = 32;

    /**
     * Checks the sign of the ordinal; only {@link #of} checks that there is such a device.
     *
     * @throws IllegalArgumentException if it is negative
     */
    public Device {
        if (ordinal < 0) {
            throw new IllegalArgumentException("a device's ordinal must not be negative, got " + ordinal);
        }
    }

    /**
     * Returns how many devices there are.
     *
     * @throws IllegalStateException if there is no runtime, no driver or no device; the message says what to do
     */
    public static int count() {
        Cuda.require();
        return askInt("cudaGetDeviceCount", "", CudaApi::cudaGetDeviceCount);
    }

    /**
     * Returns a device.
     *
     * @throws IllegalArgumentException if there is none of that ordinal
     * @throws IllegalStateException if there is no runtime, no driver or no device
     */
    public static Device of(int ordinal) {
        int count = count();
        if (ordinal < 0 || ordinal >= count) {
            throw new IllegalArgumentException("there are " + count + " devices, from 0; got ordinal " + ordinal);
        }
        return new Device(ordinal);
    }

    /**
     * Returns the device that is selected on this thread of the operating system.
     *
     * @throws IllegalStateException if there is no runtime, no driver or no device
     */
    public static Device current() {
        Cuda.require();
        return new Device(askInt("cudaGetDevice", "", CudaApi::cudaGetDevice));
    }

    /**
     * Selects the device for other users of CUDA on this thread of the operating system; kvtier's own calls need no
     * selection. A virtual thread may go on on another thread of the operating system whenever it waits: select again
     * then.
     *
     * @throws CudaException if there is no such device, or it cannot be used
     */
    public void select() {
        Cuda.require();
        use();
    }

    /** Selects the device for a call that follows; who calls has a handle, so the runtime is there. */
    void use() {
        int status = CudaApi.cudaSetDevice(ordinal);
        if (status != CudaStatus.SUCCESS) {
            throw CudaStatus.failure("cudaSetDevice", status, toString());
        }
    }

    /** Selects the device for a call that ends a handle, which matters more; if the device cannot be used, that says so. */
    void tryUse() {
        int _ = CudaApi.cudaSetDevice(ordinal);
    }

    /** Returns what the device is. */
    public DeviceProperties properties() {
        Cuda.require();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment found = cudaDeviceProp.allocate(arena);
            readProperties(found);
            return new DeviceProperties(
                    cudaDeviceProp.name(found).getString(0),
                    uuid(cudaDeviceProp.uuid(found)),
                    cudaDeviceProp.totalGlobalMem(found),
                    cudaDeviceProp.major(found),
                    cudaDeviceProp.minor(found),
                    pciBusId(arena));
        }
    }

    /** Returns the value of an attribute; those that mean yes or no are 1 or 0. */
    public int attribute(DeviceAttribute attribute) {
        Cuda.require();
        return askInt(
                "cudaDeviceGetAttribute",
                this + ", attribute " + attribute,
                out -> CudaApi.cudaDeviceGetAttribute(out, attribute.code(), ordinal));
    }

    /** Returns how much memory the device has, and how much of it is free. */
    public MemoryInfo memoryInfo() {
        select();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment free = arena.allocate(JAVA_LONG);
            MemorySegment total = arena.allocate(JAVA_LONG);
            CudaStatus.check("cudaMemGetInfo", CudaApi.cudaMemGetInfo(free, total), this);
            return new MemoryInfo(free.get(JAVA_LONG, 0), total.get(JAVA_LONG, 0));
        }
    }

    /** Returns which priorities a {@link Stream} may have. */
    public StreamPriorities streamPriorities() {
        select();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment least = arena.allocate(JAVA_INT);
            MemorySegment greatest = arena.allocate(JAVA_INT);
            CudaStatus.check(
                    "cudaDeviceGetStreamPriorityRange",
                    CudaApi.cudaDeviceGetStreamPriorityRange(least, greatest),
                    this);
            return new StreamPriorities(least.get(JAVA_INT, 0), greatest.get(JAVA_INT, 0));
        }
    }

    /** Returns whether this device could reach the memory of another one. */
    public boolean canAccess(Device peer) {
        Cuda.require();
        return askInt(
                        "cudaDeviceCanAccessPeer",
                        this + ", peer " + peer,
                        out -> CudaApi.cudaDeviceCanAccessPeer(out, ordinal, peer.ordinal))
                != 0;
    }

    /** Lets this device reach the memory of another one directly. Where it already may, nothing happens. */
    public void enableAccess(Device peer) {
        select();
        int status = CudaApi.cudaDeviceEnablePeerAccess(peer.ordinal, 0);
        if (status == CudaStatus.PEER_ACCESS_ALREADY_ENABLED) {
            // Another library of the process may have done it.
            CudaStatus.forget();
            return;
        }
        CudaStatus.check("cudaDeviceEnablePeerAccess", status, this + ", peer " + peer);
    }

    /** Ends what {@link #enableAccess} began. */
    public void disableAccess(Device peer) {
        select();
        CudaStatus.check(
                "cudaDeviceDisablePeerAccess",
                CudaApi.cudaDeviceDisablePeerAccess(peer.ordinal),
                this + ", peer " + peer);
    }

    /** Waits, for as long as it takes, until all work of the device is done. Blocks: call it on a platform thread. */
    public void synchronize() {
        select();
        CudaStatus.check("cudaDeviceSynchronize", CudaApi.cudaDeviceSynchronize(), this);
    }

    @Override
    public String toString() {
        return "device " + ordinal;
    }

    /** Runtime 12 fills our structure only by the function's second version; 13 has only the first. */
    private void readProperties(MemorySegment found) {
        boolean second =
                !NativeLibraries.address("cuda", "cudaGetDeviceProperties_v2").equals(MemorySegment.NULL);
        int status = second
                ? CudaApi.cudaGetDeviceProperties_v2(found, ordinal)
                : CudaApi.cudaGetDeviceProperties(found, ordinal);
        CudaStatus.check(second ? "cudaGetDeviceProperties_v2" : "cudaGetDeviceProperties", status, this);
    }

    private String pciBusId(Arena arena) {
        MemorySegment text = arena.allocate(BUS_ID_LENGTH);
        CudaStatus.check("cudaDeviceGetPCIBusId", CudaApi.cudaDeviceGetPCIBusId(text, BUS_ID_LENGTH, ordinal), this);
        return text.getString(0);
    }

    private static UUID uuid(MemorySegment found) {
        MemorySegment bytes = CUuuid_st.bytes(found);
        return new UUID(
                bytes.get(JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN).withByteAlignment(1), 0),
                bytes.get(JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN).withByteAlignment(1), 8));
    }

    static int askInt(String function, String arguments, Question question) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(JAVA_INT);
            CudaStatus.check(function, question.ask(out), arguments);
            return out.get(JAVA_INT, 0);
        }
    }

    /** Selects the device, asks the runtime for a pointer, and returns it. */
    MemorySegment askPointer(String function, String arguments, Question question) {
        use();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ADDRESS);
            CudaStatus.check(function, question.ask(out), arguments);
            return out.get(ADDRESS, 0);
        }
    }

    /** A function of the runtime that writes its answer. */
    interface Question {
        int ask(MemorySegment answer);
    }
}
