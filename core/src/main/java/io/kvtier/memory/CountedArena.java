package io.kvtier.memory;

import io.kvtier.memory.NativeMemory.Purpose;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/** An arena that counts what it allocates, until it is closed. */
final class CountedArena implements Arena {
    private final Arena arena;
    private final Purpose purpose;
    private long bytes;

    CountedArena(Arena arena, Purpose purpose) {
        this.arena = arena;
        this.purpose = Objects.requireNonNull(purpose, "purpose");
    }

    @Override
    public synchronized MemorySegment allocate(long byteSize, long byteAlignment) {
        MemorySegment segment = arena.allocate(byteSize, byteAlignment);
        bytes += byteSize;
        NativeMemory.count(purpose, byteSize);
        return segment;
    }

    @Override
    public MemorySegment.Scope scope() {
        return arena.scope();
    }

    @Override
    public synchronized void close() {
        arena.close();
        NativeMemory.count(purpose, -bytes);
        bytes = 0;
    }
}
