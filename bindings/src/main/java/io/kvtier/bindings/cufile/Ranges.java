package io.kvtier.bindings.cufile;

import java.lang.foreign.MemorySegment;

/** Refuses, before native code sees it, what lies outside of memory or files. */
final class Ranges {
    private Ranges() {}

    /** Checks that a range lies in memory of some size, which errors call by its owner. */
    static void checkMemory(Object owner, long offset, long bytes, long size) {
        if (offset < 0 || bytes < 0 || offset > size || bytes > size - offset) {
            throw new IndexOutOfBoundsException(
                    bytes + " bytes at " + offset + " do not lie within the " + size + " bytes of " + owner);
        }
    }

    static void checkPosition(Object file, long position, long bytes) {
        if (position < 0 || bytes > Long.MAX_VALUE - position) {
            throw new IllegalArgumentException("positions in " + file + " go from 0 to " + Long.MAX_VALUE + ", not "
                    + bytes + " bytes at " + position);
        }
    }

    /** Checks that native code can use memory. */
    static void checkNative(MemorySegment memory) {
        if (!memory.isNative()) {
            throw new IllegalArgumentException("cuFile cannot use memory on the heap: " + memory.byteSize()
                    + " bytes; allocate from an Arena, or use pinned or device memory");
        }
        if (!memory.scope().isAlive()) {
            throw new IllegalStateException("the memory of " + memory.byteSize() + " bytes at 0x"
                    + Long.toHexString(memory.address()) + " is closed");
        }
    }

    static void checkWritable(Object owner, boolean writable) {
        if (!writable) {
            throw new IllegalArgumentException("cannot read a file into memory that is read-only: " + owner);
        }
    }
}
