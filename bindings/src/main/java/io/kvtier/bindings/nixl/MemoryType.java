package io.kvtier.bindings.nixl;

import org.jspecify.annotations.Nullable;

/** What a descriptor's address, length and device mean. */
public enum MemoryType {
    /** Host memory: address and bytes. */
    DRAM(0),
    /** Device memory: device address, bytes, CUDA ordinal. */
    VRAM(1),
    /** Block storage: offset, bytes, device. */
    BLOCK(2),
    /** An object of a store: offset, bytes, a number for the key. */
    OBJECT(3),
    /** A file: offset, bytes, file descriptor or a number for the path. */
    FILE(4);

    private final int code;

    MemoryType(int code) {
        this.code = code;
    }

    /** Returns NIXL's number of the type. */
    public int code() {
        return code;
    }

    /** Returns the type with a number, or null if this version of kvtier does not know it. */
    static @Nullable MemoryType ofCode(int code) {
        for (MemoryType type : values()) {
            if (type.code == code) {
                return type;
            }
        }
        return null;
    }
}
