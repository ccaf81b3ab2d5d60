package io.kvtier.bindings.cuda;

import java.util.Arrays;
import java.util.HexFormat;

/** What another process of the same machine needs to open something of this one: 64 bytes, to be sent to it as they are. */
public abstract sealed class IpcHandle permits IpcMemoryHandle, IpcEventHandle {
    /** How many bytes a handle has. */
    public static final int BYTES = 64;

    private final byte[] bytes;

    IpcHandle(byte[] bytes) {
        if (bytes.length != BYTES) {
            throw new IllegalArgumentException("a handle has " + BYTES + " bytes, got " + bytes.length);
        }
        this.bytes = bytes.clone();
    }

    /** Returns the bytes. */
    public final byte[] toBytes() {
        return bytes.clone();
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof IpcHandle handle
                && handle.getClass() == getClass()
                && Arrays.equals(bytes, handle.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return getClass().getSimpleName() + " " + HexFormat.of().formatHex(bytes);
    }
}
