package io.kvtier.bindings.cufile;

import io.kvtier.bindings.Hold;
import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.cuda.CudaException;
import io.kvtier.bindings.cuda.CudaMemory;
import io.kvtier.bindings.cuda.Device;
import io.kvtier.bindings.cuda.PinnedMemory;
import io.kvtier.bindings.cufile.generated.CuFileApi;
import io.kvtier.bindings.internal.InFlight;
import io.kvtier.bindings.posix.MappedMemory;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Memory of a device or of the host that cuFile knows, so that files are read into it and written from it without a buffer in
 * between. Registering costs far more than a read: register large memory once, and address parts of it by their offset. Safe
 * for all threads. Whoever registers it closes it, before the memory and the driver.
 */
public final class RegisteredBuffer implements AutoCloseable {
    /*
     * cuFile pins what is registered and finds it again by its base address, so memory that is freed and allocated anew at the
     * same place would be taken for the old one. CUDA memory and mapped memory are held, and cannot be closed before this;
     * other segments are kept reachable, which is all that can be done for them. RegisteredRanges knows all that is registered
     * in this process: cuFile refuses only the same base, not memory that overlaps.
     */
    private static final String KIND = "cufile.buffer";

    private final Driver driver;
    private final MemorySegment base;
    private final boolean writable;
    private final @Nullable Device device;
    private final @Nullable Hold memory;
    private final long byteSize;
    private final InFlight users;

    private RegisteredBuffer(
            Driver driver,
            MemorySegment base,
            long byteSize,
            boolean writable,
            @Nullable Device device,
            @Nullable Hold memory) {
        this.driver = driver;
        this.base = base;
        this.byteSize = byteSize;
        this.writable = writable;
        this.device = device;
        this.memory = memory;
        this.users = new InFlight("the registered buffer of " + byteSize + " bytes at 0x"
                + Long.toHexString(base.address()) + (device == null ? "" : " (" + device + ")"));
    }

    /**
     * Registers memory of a device, or pinned memory of the host. It cannot be closed as long as it is registered.
     *
     * @throws IllegalArgumentException if some of it is registered already
     * @throws IllegalStateException if the memory or the driver is closed
     * @throws CuFileException if cuFile refuses
     */
    public static RegisteredBuffer register(Driver driver, CudaMemory memory) {
        Hold hold = memory.hold();
        MemorySegment base =
                memory instanceof PinnedMemory pinned ? pinned.segment() : MemorySegment.ofAddress(memory.address());
        return holding(
                hold, new RegisteredBuffer(driver, base, memory.byteSize(), isWritable(memory), memory.device(), hold));
    }

    /**
     * Registers mapped memory of the host. It cannot be closed as long as it is registered.
     *
     * @throws IllegalArgumentException if some of it is registered already
     * @throws IllegalStateException if the memory or the driver is closed
     * @throws CuFileException if cuFile refuses
     */
    public static RegisteredBuffer register(Driver driver, MappedMemory memory) {
        Hold hold = memory.hold();
        MemorySegment segment = memory.segment();
        return holding(
                hold, new RegisteredBuffer(driver, segment, segment.byteSize(), !segment.isReadOnly(), null, hold));
    }

    /**
     * Registers host memory. The caller must keep it open until this is closed: nothing refuses to close an arena whose memory
     * is registered, and what is in flight would go on with memory that is freed.
     *
     * @throws IllegalArgumentException if the memory is on the heap or empty, or some of it is registered already
     * @throws IllegalStateException if the memory or the driver is closed
     * @throws CuFileException if cuFile refuses
     */
    public static RegisteredBuffer register(Driver driver, MemorySegment memory) {
        Ranges.checkNative(memory);
        if (memory.byteSize() == 0 || memory.address() == 0) {
            throw new IllegalArgumentException("a registered buffer needs 1 byte at least, got " + memory);
        }
        return new RegisteredBuffer(driver, memory, memory.byteSize(), !memory.isReadOnly(), null, null).register();
    }

    private static RegisteredBuffer holding(Hold memory, RegisteredBuffer buffer) {
        try {
            return buffer.register();
        } catch (RuntimeException e) {
            memory.close();
            throw e;
        }
    }

    private RegisteredBuffer register() {
        driver.users().hold();
        try {
            RegisteredRanges.add(this);
            try {
                select();
                CuFileStatus.check(
                        "cuFileBufRegister",
                        CuFileApi.cuFileBufRegister(CuFileStatus.result(), base, byteSize, 0),
                        users.toString());
            } catch (RuntimeException e) {
                RegisteredRanges.remove(this);
                throw e;
            }
        } catch (RuntimeException e) {
            driver.users().release();
            throw e;
        }
        NativeHandles.opened(KIND);
        return this;
    }

    /** Returns the memory's address: of the device for device memory, else of the host. */
    public long address() {
        return base.address();
    }

    /** Returns the size in bytes. */
    public long byteSize() {
        return byteSize;
    }

    /** Returns whether {@link #close} has succeeded. */
    public boolean isClosed() {
        return users.isClosed();
    }

    /**
     * Waits up to 10 seconds for reads and writes of other threads and ends the registration. Closing twice does nothing.
     *
     * @throws IllegalStateException if a {@link Batch} or {@link StreamTransfers} uses it, or a call does not end: it stays
     *     registered; close it again later
     * @throws CuFileException if cuFile tells of an error; it is closed nevertheless
     */
    @Override
    public void close() {
        if (!users.close()) {
            return;
        }
        NativeHandles.closed(KIND);
        try {
            selectIfPossible();
            // The segment may be closed; its address is what cuFile knows.
            CuFileStatus.check(
                    "cuFileBufDeregister",
                    CuFileApi.cuFileBufDeregister(CuFileStatus.result(), MemorySegment.ofAddress(base.address())),
                    users.toString());
        } finally {
            RegisteredRanges.remove(this);
            if (memory != null) {
                memory.close();
            }
            driver.users().release();
        }
    }

    @Override
    public String toString() {
        return users.toString();
    }

    /** Returns what cuFile takes for the buffer; a call with it fails if the memory is closed. */
    MemorySegment base() {
        return base;
    }

    boolean isWritable() {
        return writable;
    }

    static boolean isWritable(CudaMemory memory) {
        return !(memory instanceof PinnedMemory pinned && pinned.segment().isReadOnly());
    }

    /** Returns who uses the buffer: batches and streams hold it until native code has done with it. */
    InFlight users() {
        return users;
    }

    /** Selects the device for a call that follows: cuFile works in the current context of the thread. */
    void select() {
        if (device != null) {
            device.select();
        }
    }

    private void selectIfPossible() {
        try {
            select();
        } catch (CudaException e) {
            // Ending the registration matters more; if the device is lost, cuFile says so.
        }
    }
}
