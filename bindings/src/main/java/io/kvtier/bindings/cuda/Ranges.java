package io.kvtier.bindings.cuda;

/** Arithmetic of ranges that does not overflow, and refuses with the values. */
final class Ranges {
    /** The longest row and the largest distance of rows that devices copy. */
    static final long LONGEST_PITCH = Integer.MAX_VALUE;

    private Ranges() {}

    /** Throws unless {@code bytes} from an offset lie within {@code size}. */
    static void check(Object what, long offset, long bytes, long size) {
        if ((offset | bytes) < 0 || offset > size - bytes) {
            throw new IndexOutOfBoundsException(
                    bytes + " bytes at offset " + offset + " do not lie within the " + size + " bytes of the " + what);
        }
    }

    /** Throws unless a box of rows and slices, which begins at an offset, lies within {@code size}. */
    static void checkBox(Pitched place, long width, long height, long depth) {
        if (width < 0 || height < 0 || depth < 0) {
            throw new IllegalArgumentException("a box must not have a negative side, got " + width + " bytes x "
                    + height + " rows x " + depth + " slices");
        }
        if (width > place.pitch() || (depth > 1 && height > place.rows())) {
            throw new IllegalArgumentException("a box of " + width + " bytes x " + height + " rows x " + depth
                    + " slices does not fit into rows of " + place.pitch() + " bytes and slices of " + place.rows()
                    + " rows");
        }
        if (width != 0 && height != 0 && depth != 0) {
            check(
                    place.memory(),
                    place.offset(),
                    span(place, width, height, depth),
                    place.memory().byteSize());
        }
    }

    /**
     * Returns whether two boxes of the same memory, which were checked, share a byte. Takes as many steps as there are rows,
     * but only if one box begins before the other ends.
     */
    static boolean boxesOverlap(Pitched one, Pitched other, long width, long height, long depth) {
        if (width == 0 || height == 0 || depth == 0) {
            return false;
        }
        if (one.offset() + span(one, width, height, depth) <= other.offset()
                || other.offset() + span(other, width, height, depth) <= one.offset()) {
            return false;
        }
        for (long slice = 0; slice < depth; slice++) {
            for (long row = 0; row < height; row++) {
                long start = one.offset() + (slice * one.rows() + row) * one.pitch();
                if (rowMeetsBox(start, other, width, height, depth)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** A row is not wider than the pitch, so only the two rows of the box around its start can be met. */
    private static boolean rowMeetsBox(long start, Pitched box, long width, long height, long depth) {
        long before = Math.floorDiv(start - box.offset(), box.pitch());
        for (long row = before; row <= before + 1; row++) {
            long distance = start - (box.offset() + row * box.pitch());
            if (isRowOf(box, row, height, depth) && distance < width && -distance < width) {
                return true;
            }
        }
        return false;
    }

    private static boolean isRowOf(Pitched box, long row, long height, long depth) {
        if (row < 0) {
            return false;
        }
        return depth == 1 ? row < height : row / box.rows() < depth && row % box.rows() < height;
    }

    /** Returns how many bytes there are from a box's first byte to its last; the largest long if that is more. */
    private static long span(Pitched place, long width, long height, long depth) {
        try {
            long rowsBefore = Math.addExact(Math.multiplyExact(depth - 1, place.rows()), height - 1);
            return Math.addExact(Math.multiplyExact(rowsBefore, place.pitch()), width);
        } catch (ArithmeticException _) {
            return Long.MAX_VALUE;
        }
    }
}
