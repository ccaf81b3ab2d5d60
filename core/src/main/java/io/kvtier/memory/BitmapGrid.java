package io.kvtier.memory;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * Bitmaps of equal size: the rows of a grid of bits. On the Java heap each row has memory of its own; a grid over memory
 * of the caller has its rows one after another. Not thread-safe, as its rows are not.
 */
public final class BitmapGrid {
    private final Bitmap[] rows;
    private final int columns;

    private BitmapGrid(Bitmap[] rows, int columns) {
        this.rows = rows;
        this.columns = columns;
    }

    /**
     * Makes a grid on the Java heap, all bits 0.
     *
     * @throws IllegalArgumentException if {@code rows} is below 1 or {@code columns} negative
     */
    public static BitmapGrid ofSize(int rows, int columns) {
        Bitmap[] bitmaps = new Bitmap[requireRows(rows)];
        for (int i = 0; i < rows; i++) {
            bitmaps[i] = Bitmap.ofSize(columns);
        }
        return new BitmapGrid(bitmaps, columns);
    }

    /**
     * Makes a view of the first bytes of the caller's memory, under the terms of {@link Bitmap#view}: row {@code i}
     * begins at byte {@code i * Bitmap.byteSize(columns)}.
     *
     * @throws IllegalArgumentException if {@code rows} is below 1, {@code columns} negative, the memory too small, or a
     *     bit past a row's end 1
     * @throws IllegalStateException if the memory is closed
     */
    public static BitmapGrid view(MemorySegment memory, int rows, int columns) {
        Bitmap[] bitmaps = new Bitmap[requireRows(rows)];
        long rowBytes = Bitmap.byteSize(columns);
        if (memory.byteSize() < rows * rowBytes) {
            throw new IllegalArgumentException(rows + " rows of " + columns + " bits need " + rows * rowBytes
                    + " bytes of memory, got " + memory.byteSize());
        }
        for (int i = 0; i < rows; i++) {
            bitmaps[i] = Bitmap.view(memory.asSlice(i * rowBytes, rowBytes), columns);
        }
        return new BitmapGrid(bitmaps, columns);
    }

    /** Returns the number of rows. */
    public int rows() {
        return rows.length;
    }

    /** Returns the number of bits of each row. */
    public int columns() {
        return columns;
    }

    /**
     * Returns a row: the grid's own, not a copy.
     *
     * @throws IndexOutOfBoundsException if there is no such row
     */
    public Bitmap row(int index) {
        return rows[Objects.checkIndex(index, rows.length)];
    }

    /** Makes all bits 0. */
    public void clearAll() {
        for (Bitmap row : rows) {
            row.clearAll();
        }
    }

    /**
     * Takes over the bits of another grid.
     *
     * @throws IllegalArgumentException if it is of another size
     */
    public void copyFrom(BitmapGrid other) {
        if (other.rows.length != rows.length) {
            throw new IllegalArgumentException(
                    "two grids must have as many rows, got " + rows.length + " and " + other.rows.length);
        }
        for (int i = 0; i < rows.length; i++) {
            rows[i].copyFrom(other.rows[i]);
        }
    }

    /**
     * Keeps in a bitmap the bits that are 1 in all of some rows.
     *
     * @param target has a bit for each column
     * @param from first row
     * @param count number of rows; if 0, the bitmap stays as it is
     * @throws IndexOutOfBoundsException if the grid has no such rows
     * @throws IllegalArgumentException if the bitmap is of another size
     */
    public void andRows(Bitmap target, int from, int count) {
        Objects.checkFromIndexSize(from, count, rows.length);
        for (int i = from; i < from + count; i++) {
            target.and(rows[i]);
        }
    }

    /** Returns whether a row shares memory with a bitmap. */
    public boolean overlaps(Bitmap bitmap) {
        for (Bitmap row : rows) {
            if (row.overlaps(bitmap)) {
                return true;
            }
        }
        return false;
    }

    private static int requireRows(int rows) {
        if (rows < 1) {
            throw new IllegalArgumentException("a grid has at least 1 row, got " + rows);
        }
        return rows;
    }
}
