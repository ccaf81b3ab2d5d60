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
