package io.kvtier.bindings.cuda;

import java.util.Objects;

/**
 * A place in memory that is seen as rows, and slices of rows, with gaps between them.
 *
 * @param memory the memory
 * @param offset where the first row begins
 * @param pitch bytes from one row to the next, at most 2 GiB - 1
 * @param rows rows from one slice to the next; no matter where there is only one slice
 */
public record Pitched(CudaMemory memory, long offset, long pitch, long rows) {
    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException if the pitch is too large or a value is negative
     */
    public Pitched {
        Objects.requireNonNull(memory, "memory");
        if (offset < 0 || pitch < 0 || rows < 0 || pitch > Ranges.LONGEST_PITCH) {
            throw new IllegalArgumentException("offset and rows must not be negative and the pitch be from 0 to "
                    + Ranges.LONGEST_PITCH + ", got offset " + offset + ", pitch " + pitch + ", rows " + rows);
        }
    }

    /** Creates a place with a single slice. */
    public Pitched(CudaMemory memory, long offset, long pitch) {
        this(memory, offset, pitch, 0);
    }

    long address() {
        return memory.address() + offset;
    }
}
