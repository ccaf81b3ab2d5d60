package io.kvtier.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One large piece of zeroed host memory with an arena of its own, aligned to memory pages. Whoever allocates a slab owns
 * it and closes it; pools and views over it do not.
 */
public final class Slab implements AutoCloseable {
    /** Alignment of a slab's first byte: a memory page, which is also what direct I/O asks for. */
    public static final int ALIGNMENT = 4096;

    private final Arena arena;
    private final MemorySegment segment;
    private final AtomicBoolean closed = new AtomicBoolean();

    private Slab(Arena arena, MemorySegment segment) {
        this.arena = arena;
        this.segment = segment;
        NativeMemory.count(NativeMemory.Purpose.OBJECTS, segment.byteSize());
    }

    /**
     * Allocates a slab.
     *
     * @param bytes size, at least 1
     * @throws IllegalArgumentException if {@code bytes} is below 1
     * @throws OutOfMemoryError if the system has not so much memory
     */
    // The slab owns the arena and closes it in close().
    @SuppressWarnings("MustBeClosedChecker")
    public static Slab allocate(long bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("a slab needs at least 1 byte, got " + bytes);
        }
        Arena arena = Arena.ofShared();
        try {
            return new Slab(arena, arena.allocate(bytes, ALIGNMENT));
        } catch (OutOfMemoryError e) {
            arena.close();
            OutOfMemoryError named = new OutOfMemoryError("no memory for a slab of " + bytes + " bytes");
            named.initCause(e);
            throw named;
        }
    }

    /** Returns the memory; any access after {@link #close} throws {@link IllegalStateException}. */
    public MemorySegment segment() {
        return segment;
    }

    /** Returns the size in bytes. */
    public long byteSize() {
        return segment.byteSize();
    }

    /** Frees the memory. Closing twice does nothing. */
    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            arena.close();
            NativeMemory.count(NativeMemory.Purpose.OBJECTS, -segment.byteSize());
        }
    }
}
