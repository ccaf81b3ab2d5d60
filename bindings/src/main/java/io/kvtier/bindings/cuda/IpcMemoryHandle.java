package io.kvtier.bindings.cuda;

/** What another process needs to open {@link DeviceMemory}: the runtime's bytes, and the size, which they do not tell. */
public final class IpcMemoryHandle extends IpcHandle {
    private final long byteSize;

    private IpcMemoryHandle(byte[] bytes, long byteSize) {
        super(bytes);
        if (byteSize <= 0) {
            throw new IllegalArgumentException("device memory has at least 1 byte, got " + byteSize);
        }
        this.byteSize = byteSize;
    }

    /**
     * Returns the handle that another process sent, with the size that it told; nothing checks that size.
     *
     * @throws IllegalArgumentException if it has not 64 bytes, or the size is not positive
     */
    public static IpcMemoryHandle of(byte[] bytes, long byteSize) {
        return new IpcMemoryHandle(bytes, byteSize);
    }

    /** Returns the size of the memory in bytes. */
    public long byteSize() {
        return byteSize;
    }

    @Override
    public boolean equals(Object other) {
        return super.equals(other) && other instanceof IpcMemoryHandle handle && handle.byteSize == byteSize;
    }

    @Override
    public int hashCode() {
        return 31 * super.hashCode() + Long.hashCode(byteSize);
    }
}
