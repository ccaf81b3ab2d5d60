package io.kvtier.bindings.posix;

import io.kvtier.bindings.posix.generated.iovec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A list of buffers that one call fills or writes in order. It is made once and reused: filling and using it allocates
 * nothing. It has no memory to free, and it is for one thread at a time.
 *
 * <p>The buffers must stay open while a call uses them. A call checks that when it starts, but unlike with a single buffer
 * nothing stops another thread from closing one later.
 */
public final class IoVectors {
    private static final long ENTRY = iovec.sizeof();

    private final MemorySegment table;
    private final @Nullable MemorySegment[] buffers;
    private int count;
    private long bytes;

    /** Where a transfer that came back short goes on: the first buffer not done, and how much of it is. */
    private int first;

    private long done;

    private IoVectors(int capacity) {
        this.table = iovec.allocateArray(capacity, Arena.ofAuto());
        this.buffers = new MemorySegment[capacity];
    }

    /**
     * Makes an empty list.
     *
     * @param capacity how many buffers it can take
     */
    public static IoVectors ofCapacity(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("a list of buffers needs room for 1 at least, not " + capacity);
        }
        return new IoVectors(capacity);
    }

    /**
     * Adds a buffer at the end.
     *
     * @param buffer native memory; it may be empty
     * @throws IllegalStateException if the list is full or the memory is closed
     */
    public IoVectors add(MemorySegment buffer) {
        if (count == buffers.length) {
            throw new IllegalStateException("the list is full: it has room for " + buffers.length + " buffers");
        }
        buffers[count] = Segments.requireNative(buffer);
        bytes = Math.addExact(bytes, buffer.byteSize());
        set(count, buffer, 0);
        count++;
        return this;
    }

    /** Removes all buffers. */
    public void clear() {
        Arrays.fill(buffers, 0, count, null);
        count = 0;
        bytes = 0;
    }

    /** Returns how many buffers it has. */
    public int count() {
        return count;
    }

    /** Returns how many buffers it can take. */
    public int capacity() {
        return buffers.length;
    }

    /** Returns the bytes of all buffers together. */
    public long bytes() {
        return bytes;
    }

    /** Refuses buffers that were closed since, and for a read those that may not be written. */
    void requireUsable(boolean written) {
        for (int i = 0; i < count; i++) {
            MemorySegment buffer = buffer(i);
            if (written) {
                Segments.requireWritable(buffer);
            } else {
                Segments.requireNative(buffer);
            }
        }
    }

    /** Returns the entries that are not done. */
    MemorySegment rest() {
        return first == 0 ? table : table.asSlice(first * ENTRY);
    }

    /** Returns how many of them one call takes. */
    int restCount() {
        return Math.min(count - first, Posix.vectorsPerCall());
    }

    /** Marks the next bytes as done. */
    void advance(long transferred) {
        long left = done + transferred;
        while (first < count && left >= buffer(first).byteSize()) {
            left -= buffer(first).byteSize();
            set(first, buffer(first), 0);
            first++;
        }
        done = left;
        if (first < count) {
            set(first, buffer(first), done);
        }
    }

    /** Marks nothing as done. */
    void rewind() {
        if (first < count) {
            set(first, buffer(first), 0);
        }
        first = 0;
        done = 0;
    }

    private MemorySegment buffer(int index) {
        MemorySegment buffer = buffers[index];
        if (buffer == null) {
            throw new IllegalStateException("the list was cleared during a call; it is for one thread at a time");
        }
        return buffer;
    }

    private void set(int index, MemorySegment buffer, long skipped) {
        table.set(iovec.iov_base$layout(), index * ENTRY + iovec.iov_base$offset(), base(buffer, skipped));
        table.set(iovec.iov_len$layout(), index * ENTRY + iovec.iov_len$offset(), buffer.byteSize() - skipped);
    }

    private static MemorySegment base(MemorySegment buffer, long skipped) {
        return skipped == 0 ? buffer : buffer.asSlice(skipped);
    }
}
