package io.kvtier.store;

import java.lang.foreign.MemorySegment;

/** Writes an object's bytes. */
@FunctionalInterface
public interface ObjectWriter {
    /** Fills a segment completely; it is valid only during the call. */
    void write(MemorySegment object);
}
