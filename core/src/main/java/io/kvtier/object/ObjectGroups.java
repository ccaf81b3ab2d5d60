package io.kvtier.object;

import io.kvtier.memory.Bitmap;
import io.kvtier.memory.BitmapGrid;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The object groups of a model, the window of each, and the ranks that hold a part of each chunk. A group with full
 * attention needs all chunks of a prefix; one with a window of {@code w} chunks needs the last {@code w} of them, or all
 * if there are fewer. Recurrent state is a window of 1.
 *
 * <p>Which objects are there is told in either of two forms. A grid has a row of chunks for each group and rank, row
 * {@code group * ranks + rank}. A flat bitmap has them by chunk: bit {@code (chunk * groups + group) * ranks + rank}.
 *
 * <p>To fold is to say of each length of a prefix whether it can be served: bit {@code j} is 1 iff every group has, on
 * all ranks, the chunks that it needs of the chunks 0 to {@code j}. To unfold is to say which objects a prefix needs. No
 * operation allocates Java memory. Immutable and thread-safe.
 */
public final class ObjectGroups {
    /*
     * A group with window w cannot serve the prefixes that end in [k, k + w) if it lacks chunk k. So what can be served
     * is what no lacking chunk rules out, and a run of w chunks is not counted but "eroded": a bit survives iff it ends a
     * run of w ones.
     *
     * The grid form erodes the result in place, all groups in one: eroding by w is eroding by any v <= w and then by
     * w - v + 1. So the groups go from the widest window to the narrowest; after the rows of a group have been added, the
     * result is eroded by what its window is wider than the next one's, plus 1. Full attention is the widest.
     *
     * The flat form goes from one lacking object to the next and remembers up to where prefixes are ruled out.
     */
    /** The window of a group that needs all chunks of a prefix. */
    public static final int FULL_ATTENTION = -1;

    private final int ranks;
    private final int[] windows;
    private final int[] widestFirst;

    private ObjectGroups(int ranks, int[] windows) {
        this.ranks = ranks;
        this.windows = windows;
        this.widestFirst = IntStream.range(0, windows.length)
                .boxed()
                .sorted(Comparator.comparingInt(group -> -span(group, Integer.MAX_VALUE)))
                .mapToInt(Integer::intValue)
                .toArray();
    }

    /**
     * Describes the groups of a model.
     *
     * @param ranks ranks that each hold a part of every chunk
     * @param windows chunks that each group looks back; {@link #FULL_ATTENTION}, or anything below 1, is all
     * @throws IllegalArgumentException if there is no rank or no group, or more than 2^31 - 1 rows
     */
    public static ObjectGroups of(int ranks, int... windows) {
        if (ranks < 1 || windows.length < 1) {
            throw new IllegalArgumentException(
                    "there must be a rank and a group, got " + ranks + " ranks and " + windows.length + " groups");
        }
        if ((long) ranks * windows.length > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("too many rows: " + windows.length + " groups of " + ranks + " ranks");
        }
        return new ObjectGroups(
                ranks,
                Arrays.stream(windows)
                        .map(window -> window < 1 ? FULL_ATTENTION : window)
                        .toArray());
    }

    /** Returns the number of groups. */
    public int groups() {
        return windows.length;
    }

    /** Returns the number of ranks. */
    public int ranks() {
        return ranks;
    }

    /** Returns the number of rows of a grid, which is the number of objects of a chunk. */
    public int rows() {
        return ranks * windows.length;
    }

    /**
     * Returns the window of a group in chunks, or {@link #FULL_ATTENTION}.
     *
     * @throws IndexOutOfBoundsException if there is no such group
     */
    public int window(int group) {
        return windows[Objects.checkIndex(group, windows.length)];
    }

    /**
     * Returns the row of a group and rank.
     *
     * @throws IndexOutOfBoundsException if there is no such group or rank
     */
    public int row(int group, int rank) {
        return Objects.checkIndex(group, windows.length) * ranks + Objects.checkIndex(rank, ranks);
    }

    /**
     * Says which prefixes can be served.
     *
     * @param found a row of chunks for each group and rank
     * @param servable overwritten: a bit for each chunk that may be a prefix's last
     * @return chunks of the longest prefix that can be served, 0 if none
     * @throws IllegalArgumentException if a size is wrong, or the bitmap shares memory with the grid
     */
    public int fold(BitmapGrid found, Bitmap servable) {
        requireRows(found);
        requireResult(servable, found.columns(), found.overlaps(servable));
        servable.setAll();
        for (int i = 0; i < widestFirst.length; i++) {
            found.andRows(servable, widestFirst[i] * ranks, ranks);
            int next = i + 1 < widestFirst.length ? span(widestFirst[i + 1], Integer.MAX_VALUE) : 1;
            servable.erode(span(widestFirst[i], Integer.MAX_VALUE) - next + 1);
        }
        return servable.highestSet() + 1;
    }

    /**
     * Says which prefixes can be served.
     *
     * @param found an object per bit, by chunk
     * @param servable overwritten: a bit for each chunk that may be a prefix's last
     * @return chunks of the longest prefix that can be served, 0 if none
     * @throws IllegalArgumentException if a size is wrong, or the two share memory
     */
    public int fold(Bitmap found, Bitmap servable) {
        int chunks = chunks(found);
        requireResult(servable, chunks, found.overlaps(servable));
        servable.setAll();
        int ruledOut = 0;
        int lacking = found.nextClear(0);
        while (lacking >= 0 && ruledOut < chunks) {
            int chunk = lacking / rows();
            int end = chunk + Math.min(widestLacking(found, chunk), chunks - chunk);
            if (end > ruledOut) {
                servable.clearRange(Math.max(chunk, ruledOut), end);
                ruledOut = end;
            }
            lacking = found.nextClear((chunk + 1) * rows());
        }
        return servable.highestSet() + 1;
    }

    /**
     * Says which objects a prefix needs: the inverse of fold.
     *
     * @param prefix chunks of the prefix; below 0 is 0, above the columns is all of them
     * @param needed overwritten: a row of chunks for each group and rank
     * @throws IllegalArgumentException if the grid has another number of rows
     */
    public void unfold(int prefix, BitmapGrid needed) {
        requireRows(needed);
        needed.clearAll();
        int end = Math.clamp(prefix, 0, needed.columns());
        for (int i = 0; i < needed.rows(); i++) {
            needed.row(i).setRange(firstNeeded(i / ranks, end), end);
        }
    }

    /**
     * Says which objects a prefix needs: the inverse of fold.
     *
     * @param prefix chunks of the prefix; below 0 is 0, above the chunks of {@code needed} is all of them
     * @param needed overwritten: an object per bit, by chunk
     * @throws IllegalArgumentException if the bitmap has no whole number of chunks
     */
    public void unfold(int prefix, Bitmap needed) {
        int end = Math.clamp(prefix, 0, chunks(needed));
        needed.clearAll();
        // From here on every group needs every chunk.
        int narrowest = widestFirst[widestFirst.length - 1];
        int all = firstNeeded(narrowest, end);
        needed.setRange(all * rows(), end * rows());
        for (int group = 0; group < windows.length; group++) {
            for (int chunk = firstNeeded(group, end); chunk < all; chunk++) {
                int at = chunk * rows() + group * ranks;
                needed.setRange(at, at + ranks);
            }
        }
    }

    /**
     * Folds, and keeps of what was found what the longest prefix needs: fold and unfold in one.
     *
     * @param found a row of chunks for each group and rank; changed
     * @param servable overwritten as by {@link #fold(BitmapGrid, Bitmap)}
     * @return chunks of the longest prefix that can be served, 0 if none
     * @throws IllegalArgumentException as fold does
     */
    public int trim(BitmapGrid found, Bitmap servable) {
        int prefix = fold(found, servable);
        unfold(prefix, found);
        return prefix;
    }

    /**
     * Says which chunks are there in full: in every group and on every rank.
     *
     * @param found a row of chunks for each group and rank
     * @param complete overwritten: a bit for each chunk
     * @throws IllegalArgumentException if a size is wrong, or the bitmap shares memory with the grid
     */
    public void complete(BitmapGrid found, Bitmap complete) {
        requireRows(found);
        requireResult(complete, found.columns(), found.overlaps(complete));
        complete.setAll();
        found.andRows(complete, 0, rows());
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ObjectGroups groups && ranks == groups.ranks && Arrays.equals(windows, groups.windows);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(windows) + ranks;
    }

    @Override
    public String toString() {
        return "ranks=" + ranks + ":windows=" + Arrays.toString(windows);
    }

    /** Returns the chunks that a group needs of a prefix of so many. */
    private int span(int group, int prefix) {
        return windows[group] == FULL_ATTENTION ? prefix : Math.min(windows[group], prefix);
    }

    private int firstNeeded(int group, int prefix) {
        return prefix - span(group, prefix);
    }

    /** Returns the widest window of the groups that lack a chunk on some rank. */
    private int widestLacking(Bitmap found, int chunk) {
        for (int group : widestFirst) {
            int at = chunk * rows() + group * ranks;
            if (found.countRange(at, at + ranks) < ranks) {
                return span(group, Integer.MAX_VALUE);
            }
        }
        return 1;
    }

    private int chunks(Bitmap flat) {
        if (flat.size() % rows() != 0) {
            throw new IllegalArgumentException("a flat bitmap has " + rows() + " bits for each chunk (" + windows.length
                    + " groups, " + ranks + " ranks), got " + flat.size() + " bits");
        }
        return flat.size() / rows();
    }

    private void requireRows(BitmapGrid grid) {
        if (grid.rows() != rows()) {
            throw new IllegalArgumentException("a grid has " + rows() + " rows (" + windows.length + " groups, " + ranks
                    + " ranks), got " + grid.rows());
        }
    }

    private static void requireResult(Bitmap result, int chunks, boolean overlaps) {
        if (result.size() != chunks) {
            throw new IllegalArgumentException(
                    "the result has a bit for each of " + chunks + " chunks, got " + result.size() + " bits");
        }
        if (overlaps) {
            throw new IllegalArgumentException("the result of " + chunks + " chunks shares memory with what is folded");
        }
    }
}
