package io.kvtier.bindings.posix;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

/** What native code may be given: memory, and positions in files. */
final class Segments {
    private Segments() {}

    /** Refuses what is on the heap or closed. */
    static MemorySegment requireNative(MemorySegment segment) {
        if (!segment.isNative()) {
            throw new IllegalArgumentException("native code cannot use memory on the heap: " + segment.byteSize()
                    + " bytes; allocate from an Arena");
        }
        if (!segment.scope().isAlive()) {
            throw new IllegalStateException("the memory of " + segment.byteSize() + " bytes at 0x"
                    + Long.toHexString(segment.address()) + " is closed");
        }
        return segment;
    }

    /** Refuses, beyond that, what may not be written. */
    static MemorySegment requireWritable(MemorySegment segment) {
        if (segment.isReadOnly()) {
            throw new IllegalArgumentException(
                    "cannot read into memory that is read-only: " + segment.byteSize() + " bytes");
        }
        return requireNative(segment);
    }

    /** Refuses a range that is negative or ends past the segment. */
    static MemorySegment slice(MemorySegment segment, long offset, long bytes) {
        Objects.checkFromIndexSize(offset, bytes, segment.byteSize());
        return offset == 0 && bytes == segment.byteSize() ? segment : segment.asSlice(offset, bytes);
    }

    static void requirePosition(String path, long position) {
        if (position < 0) {
            throw new IllegalArgumentException("positions and sizes in " + path + " start at 0, not " + position);
        }
    }

    static void requireRange(String path, long position, long bytes) {
        requirePosition(path, position);
        if (bytes < 1) {
            throw new IllegalArgumentException("a range of " + path + " must have 1 byte at least, not " + bytes);
        }
    }
}
