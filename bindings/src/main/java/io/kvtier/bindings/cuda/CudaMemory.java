package io.kvtier.bindings.cuda;

import io.kvtier.bindings.Hold;
import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.internal.Backoff;

/** Memory that copies can go to and come from: on a device, or pinned in the host. Safe for all threads. */
public abstract sealed class CudaMemory implements AutoCloseable permits DeviceMemory, PinnedMemory {
    /*
     * Work on a stream uses memory long after the call that asked for it. Memory remembers which streams were given work with
     * it (StreamUses); close() waits for what they have at that moment, bounded, and refuses rather than free what a device
     * may still read or write. Work that other libraries put on a stream is only known if usedBy() tells of it.
     */
    private final String kind;
    private final Device device;
    private final long address;
    private final long byteSize;
    private final Guard guard;
    private final StreamUses uses = new StreamUses();

    CudaMemory(String kind, String title, Device device, long address, long byteSize) {
        this.kind = kind;
        this.device = device;
        this.address = address;
        this.byteSize = byteSize;
        this.guard = new Guard(title + " (" + byteSize + " bytes at 0x" + Long.toHexString(address) + ")", device);
        NativeHandles.opened(kind);
    }

    /** Returns the device that the memory is on, or that it was pinned for. */
    public final Device device() {
        return device;
    }

    /** Returns the address: of the device for device memory, of the host for pinned memory. */
    public final long address() {
        return address;
    }

    /** Returns the size in bytes. */
    public final long byteSize() {
        return byteSize;
    }

    /**
     * Tells that a stream was or will be given work with this memory by other native code, so that {@link #close} waits
     * for it. The package's own copies need no telling.
     *
     * @throws IllegalStateException if the memory is closed
     */
    public final void usedBy(Stream stream) {
        enter(stream);
        exit();
    }

    /**
     * Keeps the memory open until the result is closed, for native code that uses it beyond a call.
     *
     * @throws IllegalStateException if the memory is closed
     */
    public final Hold hold() {
        return guard.hold();
    }

    /**
     * Frees the memory, when all work that uses it is done: waits up to 10 seconds for that. Closing twice does nothing.
     * Blocks: call it on a platform thread.
     *
     * @throws IllegalStateException if work is not done then, another thread is in a call or there is a {@link #hold}: the
     *     memory stays open; close it again later
     * @throws CudaException if the runtime cannot tell whether work is done, and then the memory stays open; or if it tells
     *     of an error when it frees the memory, and then that is closed nevertheless
     */
    @Override
    public final synchronized void close() {
        if (guard.isClosed()) {
            return;
        }
        long deadline = Backoff.deadline(Guard.CLOSE_WAIT);
        guard.shut(deadline);
        boolean settled = false;
        try {
            settle(deadline);
            settled = true;
        } finally {
            if (!settled) {
                guard.reopen();
            }
        }
        guard.end();
        NativeHandles.closed(kind);
        release();
    }

    /** Returns whether {@link #close} freed the memory, or had to give it up. */
    public final boolean isClosed() {
        return guard.isClosed();
    }

    @Override
    public final String toString() {
        return guard.toString();
    }

    /** Makes sure that no work uses the memory when {@link #release} comes, or throws. */
    void settle(long deadline) {
        try {
            if (!uses.await(deadline)) {
                throw guard.stillInUse("work on a stream");
            }
        } catch (CudaException e) {
            // When the context is lost, so is all work.
            if (!e.isContextLost()) {
                throw e;
            }
        }
    }

    /** Frees the memory; nothing uses it any more. */
    abstract void release();

    /** Returns whether copies may write to it. */
    abstract boolean isWritable();

    final StreamUses uses() {
        return uses;
    }

    final void requireOpen() {
        if (guard.isClosed()) {
            throw guard.closed();
        }
    }

    /** Lets a call in that puts work on a stream: the memory stays open until {@link #exit}, and then until that is done. */
    final void enter(Stream stream) {
        guard.enter();
        if (!isThere()) {
            guard.exit();
            throw new IllegalStateException("the " + this
                    + " was freed by its owner, but is still registered; close the registration before the memory");
        }
        uses.add(stream);
    }

    /** Returns whether there still is memory behind the address. */
    abstract boolean isThere();

    /** Lets a call in and selects the device; the memory stays open until {@link #exit}. */
    final void enterOnDevice() {
        guard.enterOnDevice();
    }

    final void exit() {
        guard.exit();
    }
}
