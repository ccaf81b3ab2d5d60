package io.kvtier.memory;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.util.Arrays;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/** The words that hold a bitmap's bits, in an array or a buffer. Checks no index: the bitmap does. */
final class BitWords {
    /*
     * Bits on the Java heap are in `array`, from its first element on; those of other memory in `buffer`, a view of it.
     * The other one is null or not used.
     *
     * Loops over two bitmaps ask "array or buffer?" in each step, through word() and put(), of local variables. The
     * answer does not change within the loop, so C2 makes a loop for each answer ("loop unswitching") and vectorises those
     * that it can. One source serves all pairs. Fields in place of the locals would undo this: a store to a buffer might
     * change them, for all that C2 knows. An array begins with bit 0 for a like reason: a[i] and b[i] cannot overlap in
     * part, a[i] and b[offset + i] might.
     *
     * Other memory is read through a LongBuffer, not MemorySegment.get: native and mapped segments are of different
     * classes and heap segments of others, and once a process uses a few of them, C2 no longer resolves the calls in
     * MemorySegment.get and each word costs 50 to 100 times as much. A direct LongBuffer has one class for native and
     * mapped memory, and checks bounds and liveness too. docs/bitmaps.md has the figures.
     */
    private static final LongBuffer NO_BUFFER = LongBuffer.allocate(0);
    private static final int BITS = Long.SIZE;
    private static final int SHIFT = 6;
    private static final long ONES = -1L;

    private final int count;
    private final MemorySegment segment;
    private final long @Nullable [] array;
    private final LongBuffer buffer;

    private BitWords(int count, MemorySegment segment, long @Nullable [] array, LongBuffer buffer) {
        this.count = count;
        this.segment = segment;
        this.array = array;
        this.buffer = buffer;
    }

    /** Makes an array for so many bits, all 0. */
    static BitWords allocate(int bits) {
        long[] array = new long[count(bits)];
        return new BitWords(array.length, MemorySegment.ofArray(array), array, NO_BUFFER);
    }

    /** Makes words for so many bits of all of a segment, or returns null if it is of a kind that cannot be viewed. */
    static @Nullable BitWords view(MemorySegment segment, int bits) {
        Object base = segment.heapBase().orElse(null);
        if (base instanceof long[] array) {
            return viewOfArray(segment, array, count(bits));
        }
        if (!segment.isNative() && !(base instanceof byte[])) {
            return null;
        }
        LongBuffer buffer =
                segment.asByteBuffer().order(ByteOrder.LITTLE_ENDIAN).asLongBuffer();
        return new BitWords(count(bits), segment, null, buffer);
    }

    // In an array bit i is bit i of a long, so it is as in memory only where the least significant byte comes first.
    private static @Nullable BitWords viewOfArray(MemorySegment segment, long[] array, int count) {
        int first = Math.toIntExact(segment.address() / Long.BYTES);
        if (ByteOrder.nativeOrder() != ByteOrder.LITTLE_ENDIAN || segment.address() % Long.BYTES != 0) {
            return null;
        }
        return first == 0
                ? new BitWords(count, segment, array, NO_BUFFER)
                : new BitWords(count, segment, null, LongBuffer.wrap(array).slice(first, count));
    }

    /** Returns the number of words that hold so many bits. */
    static int count(int bits) {
        if (bits < 0) {
            throw new IllegalArgumentException("a bitmap has at least 0 bits, got " + bits);
        }
        return (int) ((bits + (BITS - 1L)) >>> SHIFT);
    }

    boolean overlaps(BitWords other) {
        return segment.asOverlappingSlice(other.segment).isPresent();
    }

    boolean isReadOnly() {
        return segment.isReadOnly();
    }

    boolean get(int bit) {
        return (word(array, buffer, bit >>> SHIFT) & 1L << bit) != 0;
    }

    /** Returns 64 bits from an index on, or fewer at the end, then zeros. */
    long bits(int from) {
        int i = from >>> SHIFT;
        long low = word(array, buffer, i) >>> from;
        if (from % BITS == 0 || i + 1 == count) {
            return low;
        }
        return low | word(array, buffer, i + 1) << -from;
    }

    /** Makes the bits from one index to before another equal to those of a word that is all ones or all zeros. */
    void fill(int from, int to, long word) {
        if (from >= to) {
            return;
        }
        int first = from >>> SHIFT;
        int last = (to - 1) >>> SHIFT;
        if (first == last) {
            mixWord(first, word, head(from) & tail(to));
            return;
        }
        mixWord(first, word, head(from));
        fillWords(first + 1, last, word);
        mixWord(last, word, tail(to));
    }

    private void fillWords(int from, int to, long word) {
        long[] a = array;
        if (a != null) {
            Arrays.fill(a, from, to, word);
            return;
        }
        LongBuffer x = buffer;
        for (int i = from; i < to; i++) {
            x.put(i, word);
        }
    }

    private void mixWord(int index, long word, long mask) {
        put(array, buffer, index, (word(array, buffer, index) & ~mask) | (word & mask));
    }

    /** Makes a bit equal to those of a word that is all ones or all zeros. */
    void fillBit(int bit, long word) {
        mixWord(bit >>> SHIFT, word, 1L << bit);
    }

    /** Flips the bits from one index to before another. */
    void flip(int from, int to) {
        if (from >= to) {
            return;
        }
        int first = from >>> SHIFT;
        int last = (to - 1) >>> SHIFT;
        if (first == last) {
            flipWord(first, head(from) & tail(to));
            return;
        }
        flipWord(first, head(from));
        flipWords(first + 1, last);
        flipWord(last, tail(to));
    }

    private void flipWords(int from, int to) {
        long[] a = array;
        LongBuffer x = buffer;
        for (int i = from; i < to; i++) {
            put(a, x, i, ~word(a, x, i));
        }
    }

    private void flipWord(int index, long mask) {
        put(array, buffer, index, word(array, buffer, index) ^ mask);
    }

    void copy(BitWords other) {
        int n = count;
        long[] a = array;
        long[] b = other.array;
        LongBuffer x = buffer;
        LongBuffer y = other.buffer;
        for (int i = 0; i < n; i++) {
            put(a, x, i, word(b, y, i));
        }
    }

    void and(BitWords other) {
        int n = count;
        long[] a = array;
        long[] b = other.array;
        LongBuffer x = buffer;
        LongBuffer y = other.buffer;
        for (int i = 0; i < n; i++) {
            put(a, x, i, word(a, x, i) & word(b, y, i));
        }
    }

    void andNot(BitWords other) {
        int n = count;
        long[] a = array;
        long[] b = other.array;
        LongBuffer x = buffer;
        LongBuffer y = other.buffer;
        for (int i = 0; i < n; i++) {
            put(a, x, i, word(a, x, i) & ~word(b, y, i));
        }
    }

    void or(BitWords other) {
        int n = count;
        long[] a = array;
        long[] b = other.array;
        LongBuffer x = buffer;
        LongBuffer y = other.buffer;
        for (int i = 0; i < n; i++) {
            put(a, x, i, word(a, x, i) | word(b, y, i));
        }
    }

    void xor(BitWords other) {
        int n = count;
        long[] a = array;
        long[] b = other.array;
        LongBuffer x = buffer;
        LongBuffer y = other.buffer;
        for (int i = 0; i < n; i++) {
            put(a, x, i, word(a, x, i) ^ word(b, y, i));
        }
    }

    /** Keeps a bit only if the bit so many places before it is 1 or not there. */
    void andShifted(int places) {
        int skip = places >>> SHIFT;
        if (skip >= count) {
            return;
        }
        long[] a = array;
        LongBuffer x = buffer;
        // Downwards: what is looked at was not changed yet.
        for (int i = count - 1; i > skip; i--) {
            long high = word(a, x, i - skip) << places;
            long low = word(a, x, i - skip - 1) >>> 1 >>> ~places;
            put(a, x, i, word(a, x, i) & (high | low));
        }
        long first = word(a, x, 0) << places | ~(ONES << places);
        put(a, x, skip, word(a, x, skip) & first);
    }

    /** Returns the number of bits that are 1 from one index to before another. */
    int ones(int from, int to) {
        if (from >= to) {
            return 0;
        }
        int first = from >>> SHIFT;
        int last = (to - 1) >>> SHIFT;
        if (first == last) {
            return Long.bitCount(word(array, buffer, first) & head(from) & tail(to));
        }
        int ends = Long.bitCount(word(array, buffer, first) & head(from))
                + Long.bitCount(word(array, buffer, last) & tail(to));
        return ends + onesOfWords(first + 1, last);
    }

    private int onesOfWords(int from, int to) {
        long[] a = array;
        LongBuffer x = buffer;
        int ones = 0;
        for (int i = from; i < to; i++) {
            ones += Long.bitCount(word(a, x, i));
        }
        return ones;
    }

    /** Returns the first bit at or after {@code from} that differs from the bits of {@code flip}, or -1. */
    int next(int from, long flip) {
        int n = count;
        int i = from >>> SHIFT;
        if (i >= n) {
            return -1;
        }
        long[] a = array;
        LongBuffer x = buffer;
        long found = (word(a, x, i) ^ flip) & head(from);
        while (found == 0) {
            i++;
            if (i == n) {
                return -1;
            }
            found = word(a, x, i) ^ flip;
        }
        return i * BITS + Long.numberOfTrailingZeros(found);
    }

    /** Returns the last bit at or before {@code from}, which is at least 0, that differs from {@code flip}'s, or -1. */
    int previous(int from, long flip) {
        int i = from >>> SHIFT;
        long[] a = array;
        LongBuffer x = buffer;
        long found = (word(a, x, i) ^ flip) & tail(from + 1);
        while (found == 0) {
            i--;
            if (i < 0) {
                return -1;
            }
            found = word(a, x, i) ^ flip;
        }
        return i * BITS + (BITS - 1) - Long.numberOfLeadingZeros(found);
    }

    void gather(int[] target, int at) {
        int n = count;
        long[] a = array;
        LongBuffer x = buffer;
        int to = at;
        for (int i = 0; i < n; i++) {
            for (long left = word(a, x, i); left != 0; left &= left - 1) {
                target[to++] = i * BITS + Long.numberOfTrailingZeros(left);
            }
        }
    }

    void forEach(IntConsumer action) {
        for (int i = 0; i < count; i++) {
            for (long left = word(array, buffer, i); left != 0; left &= left - 1) {
                action.accept(i * BITS + Long.numberOfTrailingZeros(left));
            }
        }
    }

    boolean equal(BitWords other) {
        int n = count;
        long[] a = array;
        long[] b = other.array;
        LongBuffer x = buffer;
        LongBuffer y = other.buffer;
        for (int i = 0; i < n; i++) {
            if (word(a, x, i) != word(b, y, i)) {
                return false;
            }
        }
        return true;
    }

    boolean intersects(BitWords other) {
        int n = count;
        long[] a = array;
        long[] b = other.array;
        LongBuffer x = buffer;
        LongBuffer y = other.buffer;
        for (int i = 0; i < n; i++) {
            if ((word(a, x, i) & word(b, y, i)) != 0) {
                return true;
            }
        }
        return false;
    }

    /** Returns whether each bit that is 1 in the other is 1 here. */
    boolean contains(BitWords other) {
        int n = count;
        long[] a = array;
        long[] b = other.array;
        LongBuffer x = buffer;
        LongBuffer y = other.buffer;
        for (int i = 0; i < n; i++) {
            if ((~word(a, x, i) & word(b, y, i)) != 0) {
                return false;
            }
        }
        return true;
    }

    int hash() {
        int hash = 1;
        for (int i = 0; i < count; i++) {
            hash = 31 * hash + Long.hashCode(word(array, buffer, i));
        }
        return hash;
    }

    private static long word(long @Nullable [] array, LongBuffer buffer, int index) {
        return array != null ? array[index] : buffer.get(index);
    }

    private static void put(long @Nullable [] array, LongBuffer buffer, int index, long word) {
        if (array != null) {
            array[index] = word;
        } else {
            buffer.put(index, word);
        }
    }

    /** Returns the bits of a word from one of them on. */
    private static long head(int from) {
        return ONES << from;
    }

    /** Returns the bits of a word before one of them; all, if that is the next word's first. */
    private static long tail(int to) {
        return ONES >>> -to;
    }
}
