package io.kvtier.bindings.cuda;

/** What another process needs to open an {@link Event}. */
public final class IpcEventHandle extends IpcHandle {
    private IpcEventHandle(byte[] bytes) {
        super(bytes);
    }

    /**
     * Returns the handle that another process sent.
     *
     * @throws IllegalArgumentException if it has not 64 bytes
     */
    public static IpcEventHandle of(byte[] bytes) {
        return new IpcEventHandle(bytes);
    }
}
