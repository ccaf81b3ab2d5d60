package io.kvtier.memory;

import java.lang.foreign.MemorySegment;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A fixed number of bits, numbered from 0, on the Java heap or over memory of the caller. Operations on bits allocate no
 * Java memory. They refuse an index that is not in the bitmap with {@link IndexOutOfBoundsException}, another bitmap of
 * unequal size with {@link IllegalArgumentException}, closed memory with {@link IllegalStateException} and a change of
 * read-only memory with {@link UnsupportedOperationException}, and then have changed nothing.
 *
 * <p>Bit {@code i} is bit {@code i % 8} of byte {@code i / 8}, and the memory is a whole number of 8-byte words. Bits of
 * the last word past the end are 0; no operation sets them.
 *
 * <p>Not thread-safe: many threads may read while none writes. Two operands are the same bitmap, or their memory does
 * not overlap.
 */
public final class Bitmap {
    /** What a search returns if there is no such bit. */
    public static final int NONE = -1;

    private static final long ZEROS = 0;
    private static final long ONES = -1L;

    private final int size;
    private final boolean readOnly;
    private final BitWords words;

    private Bitmap(int size, BitWords words) {
        this.size = size;
        this.readOnly = words.isReadOnly();
        this.words = words;
    }

    /**
     * Makes a bitmap of {@code size} bits on the Java heap, all 0.
     *
     * @throws IllegalArgumentException if {@code size} is negative
     */
    public static Bitmap ofSize(int size) {
        return new Bitmap(size, BitWords.allocate(size));
    }

    /**
     * Makes a bitmap on the Java heap whose first {@code ones} bits are 1.
     *
     * @throws IllegalArgumentException if {@code size} is negative
     */
    public static Bitmap ofPrefix(int size, int ones) {
        Bitmap bitmap = ofSize(size);
        bitmap.setRange(0, ones);
        return bitmap;
    }

    /**
     * Makes a view of {@code size} bits at the start of the caller's memory: a change of either is a change of both. A
     * view frees nothing. Whoever else writes to the memory keeps the bits past the end 0.
     *
     * @param memory at least {@link #byteSize} bytes: native or mapped memory or an array of bytes, of any alignment, or
     *     an array of longs from one of them on; if native memory is read-only, a change of the bitmap is refused with
     *     {@link UnsupportedOperationException}
     * @throws IllegalArgumentException if {@code size} is negative, the memory too small or of another kind, or a bit
     *     past the end 1
     * @throws IllegalStateException if the memory is closed
     */
    public static Bitmap view(MemorySegment memory, int size) {
        long bytes = byteSize(size);
        requireUsable(memory, size, bytes);
        BitWords words = BitWords.view(memory.asSlice(0, bytes), size);
        if (words == null) {
            throw new IllegalArgumentException(
                    "a bitmap views native memory, bytes of an array or whole longs of an array"
                            + " (read-only arrays and machines with the most significant byte first aside), got "
                            + memory);
        }
        int past = words.next(size, ZEROS);
        if (past >= 0) {
            throw new IllegalArgumentException(
                    "bits past the end must be 0, but of " + size + " bits, bit " + past + " of the memory is 1");
        }
        return new Bitmap(size, words);
    }

    /**
     * Makes a bitmap of a text as {@link #toString} makes it.
     *
     * @throws IllegalArgumentException if a character is neither 0 nor 1
     */
    public static Bitmap parse(CharSequence text) {
        Bitmap bitmap = ofSize(text.length());
        for (int i = 0; i < bitmap.size; i++) {
            char bit = text.charAt(i);
            if (bit == '1') {
                bitmap.set(i);
            } else if (bit != '0') {
                throw new IllegalArgumentException("a bit is 0 or 1, got '" + bit + "' at " + i);
            }
        }
        return bitmap;
    }

    /**
     * Returns the bytes that so many bits need in memory: a whole number of 8-byte words.
     *
     * @throws IllegalArgumentException if {@code size} is negative
     */
    public static long byteSize(int size) {
        return (long) BitWords.count(size) * Long.BYTES;
    }

    /** Returns a bitmap on the Java heap with the same bits. */
    public Bitmap copy() {
        Bitmap copy = ofSize(size);
        copy.copyFrom(this);
        return copy;
    }

    /** Returns the number of bits. */
    public int size() {
        return size;
    }

    /** Returns whether this and another bitmap share memory. */
    public boolean overlaps(Bitmap other) {
        return words.overlaps(other.words);
    }

    /** Returns whether a bit is 1. */
    public boolean get(int index) {
        return words.get(Objects.checkIndex(index, size));
    }

    /**
     * Returns up to 64 bits as a number whose least significant bit is that at {@code from}.
     *
     * @param count number of bits, 1 to 64; the number's other bits are 0
     * @throws IndexOutOfBoundsException if the bitmap has no such bits
     * @throws IllegalArgumentException if {@code count} is not 1 to 64
     */
    public long bits(int from, int count) {
        if (count < 1 || count > Long.SIZE) {
            throw new IllegalArgumentException("a number has 1 to 64 bits, got " + count);
        }
        Objects.checkFromIndexSize(from, count, size);
        return words.bits(from) & ONES >>> -count;
    }

    /** Makes a bit 1. */
    public void set(int index) {
        writable().fillBit(Objects.checkIndex(index, size), ONES);
    }

    /** Makes a bit 0. */
    public void clear(int index) {
        writable().fillBit(Objects.checkIndex(index, size), ZEROS);
    }

    /** Makes a bit 1 if it is 0, else 0. */
    public void flip(int index) {
        Objects.checkIndex(index, size);
        writable().flip(index, index + 1);
    }

    /** Makes the bits from one index to before another 1. */
    public void setRange(int from, int to) {
        Objects.checkFromToIndex(from, to, size);
        writable().fill(from, to, ONES);
    }

    /** Makes the bits from one index to before another 0. */
    public void clearRange(int from, int to) {
        Objects.checkFromToIndex(from, to, size);
        writable().fill(from, to, ZEROS);
    }

    /** Flips the bits from one index to before another. */
    public void flipRange(int from, int to) {
        Objects.checkFromToIndex(from, to, size);
        writable().flip(from, to);
    }

    /** Makes all bits 1. */
    public void setAll() {
        writable().fill(0, size, ONES);
    }

    /** Makes all bits 0. */
    public void clearAll() {
        writable().fill(0, size, ZEROS);
    }

    /** Flips all bits. */
    public void not() {
        writable().flip(0, size);
    }

    /**
     * Makes bits 1: those that {@code count} elements of an array name, in any order, beginning with {@code from}.
     *
     * @throws IndexOutOfBoundsException if an element is not in the array, or a bit not in the bitmap
     */
    public void setEach(int[] indices, int from, int count) {
        Objects.checkFromIndexSize(from, count, indices.length);
        for (int i = from; i < from + count; i++) {
            Objects.checkIndex(indices[i], size);
        }
        for (int i = from; i < from + count; i++) {
            set(indices[i]);
        }
    }

    /**
     * Makes bit {@code positions[i]} 1 for each bit {@code i} of a part that is 1.
     *
     * @throws IllegalArgumentException if there are not as many positions as the part has bits
     */
    public void scatter(Bitmap part, int[] positions) {
        requireAsMany("positions", positions.length, part.size);
        for (int i = part.nextSet(0); i >= 0; i = part.nextSet(i + 1)) {
            Objects.checkIndex(positions[i], size);
        }
        for (int i = part.nextSet(0); i >= 0; i = part.nextSet(i + 1)) {
            set(positions[i]);
        }
    }

    /** Takes over the bits of another bitmap. */
    public void copyFrom(Bitmap other) {
        writable().copy(sameSize(other));
    }

    /** Keeps the bits that are 1 in another bitmap too. */
    public void and(Bitmap other) {
        writable().and(sameSize(other));
    }

    /** Keeps the bits that are 0 in another bitmap. */
    public void andNot(Bitmap other) {
        writable().andNot(sameSize(other));
    }

    /** Adds the bits that are 1 in another bitmap. */
    public void or(Bitmap other) {
        writable().or(sameSize(other));
    }

    /** Flips the bits that are 1 in another bitmap. */
    public void xor(Bitmap other) {
        writable().xor(sameSize(other));
    }

    /**
     * Keeps a bit only if it ends a run of so many bits that are 1. What is before bit 0 counts as 1, so a run that
     * begins with bit 0 may be shorter.
     *
     * @param run least length of a run: 1 changes nothing, {@link #size} or more keeps the leading ones
     * @throws IllegalArgumentException if {@code run} is below 1
     */
    public void erode(int run) {
        if (run < 1) {
            throw new IllegalArgumentException("a run has at least 1 bit, got " + run);
        }
        if (run >= size) {
            clearRange(leadingOnes(), size);
            return;
        }
        // After each step a bit speaks for a run of `reach`, so the next may look back as far.
        for (int reach = 1; reach < run; ) {
            int step = Math.min(reach, run - reach);
            writable().andShifted(step);
            reach += step;
        }
    }

    /** Returns the number of bits that are 1. */
    public int count() {
        return words.ones(0, size);
    }

    /** Returns the number of bits that are 1 from one index to before another. */
    public int countRange(int from, int to) {
        Objects.checkFromToIndex(from, to, size);
        return words.ones(from, to);
    }

    /** Returns whether no bit is 1. */
    public boolean isEmpty() {
        return highestSet() == NONE;
    }

    /** Returns whether a bit is 1 both here and in another bitmap. */
    public boolean intersects(Bitmap other) {
        return words.intersects(sameSize(other));
    }

    /** Returns whether each bit that is 1 in another bitmap is 1 here. */
    public boolean contains(Bitmap other) {
        return words.contains(sameSize(other));
    }

    /** Returns the number of bits before the first 1: {@link #size} if there is none. */
    public int leadingZeros() {
        int first = nextSet(0);
        return first == NONE ? size : first;
    }

    /** Returns the number of bits before the first 0: {@link #size} if there is none. */
    public int leadingOnes() {
        int first = nextClear(0);
        return first == NONE ? size : first;
    }

    /** Returns the number of bits after the last 1: {@link #size} if there is none. */
    public int trailingZeros() {
        return size - 1 - highestSet();
    }

    /** Returns the number of bits after the last 0: {@link #size} if there is none. */
    public int trailingOnes() {
        return size - 1 - previousClear(size - 1);
    }

    /** Returns the last 1, or {@link #NONE}. */
    public int highestSet() {
        return previousSet(size - 1);
    }

    /** Returns the first 1 at or after an index from 0 to {@link #size}, or {@link #NONE}. */
    public int nextSet(int from) {
        Objects.checkFromToIndex(from, size, size);
        return words.next(from, 0);
    }

    /** Returns the first 0 at or after an index from 0 to {@link #size}, or {@link #NONE}. */
    public int nextClear(int from) {
        Objects.checkFromToIndex(from, size, size);
        int index = words.next(from, ONES);
        return index < size ? index : NONE;
    }

    /** Returns the last 1 at or before an index from -1 to {@code size() - 1}, or {@link #NONE}. */
    public int previousSet(int from) {
        return from == NONE ? NONE : words.previous(Objects.checkIndex(from, size), 0);
    }

    /** Returns the last 0 at or before an index from -1 to {@code size() - 1}, or {@link #NONE}. */
    public int previousClear(int from) {
        return from == NONE ? NONE : words.previous(Objects.checkIndex(from, size), ONES);
    }

    /**
     * Writes the indices of the bits that are 1, ascending, to an array's elements from {@code at} on.
     *
     * @return the number of indices
     * @throws IndexOutOfBoundsException if they do not fit; the array is unchanged
     */
    public int gather(int[] target, int at) {
        int count = count();
        Objects.checkFromIndexSize(at, count, target.length);
        words.gather(target, at);
        return count;
    }

    /**
     * Adds to a collection the items, one for each bit, whose bits are 1, in their order.
     *
     * @throws IllegalArgumentException if there are not as many items as bits
     */
    public <T> void gather(List<? extends T> items, Collection<? super T> target) {
        requireAsMany("items", items.size(), size);
        for (int i = nextSet(0); i >= 0; i = nextSet(i + 1)) {
            target.add(items.get(i));
        }
    }

    /** Calls with the index of each bit that is 1, ascending. The action does not change the bitmap. */
    public void forEach(IntConsumer action) {
        words.forEach(action);
    }

    /** Returns whether another object is a bitmap of the same size with the same bits, whatever memory holds them. */
    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Bitmap bitmap && size == bitmap.size && words.equal(bitmap.words);
    }

    @Override
    public int hashCode() {
        return 31 * size + words.hash();
    }

    /** Returns a character 0 or 1 for each bit, bit 0 first. */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(size);
        for (int i = 0; i < size; i++) {
            text.append(get(i) ? '1' : '0');
        }
        return text.toString();
    }

    private static void requireUsable(MemorySegment memory, int size, long bytes) {
        if (memory.byteSize() < bytes) {
            throw new IllegalArgumentException(
                    size + " bits need " + bytes + " bytes of memory, got " + memory.byteSize());
        }
        if (!memory.scope().isAlive()) {
            throw new IllegalStateException("the memory for " + size + " bits is closed");
        }
    }

    private BitWords writable() {
        if (readOnly) {
            throw new UnsupportedOperationException("the memory of these " + size + " bits is read-only");
        }
        return words;
    }

    private BitWords sameSize(Bitmap other) {
        if (other.size != size) {
            throw new IllegalArgumentException(
                    "two bitmaps must be of equal size, got " + size + " and " + other.size + " bits");
        }
        return other.words;
    }

    private static void requireAsMany(String what, int found, int bits) {
        if (found != bits) {
            throw new IllegalArgumentException(
                    "there must be as many " + what + " as bits, got " + found + " for " + bits);
        }
    }
}
