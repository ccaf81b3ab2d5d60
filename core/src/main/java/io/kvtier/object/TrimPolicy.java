package io.kvtier.object;

import io.kvtier.memory.Bitmap;
import io.kvtier.memory.BitmapGrid;

/**
 * What a request keeps of the objects that were found for it: first when it is planned what to load, then of what has
 * really been loaded.
 */
public enum TrimPolicy {
    /** What serves the longest prefix, and nothing else. */
    PREFIX(true, true),

    /**
     * Planned like {@link #PREFIX}; but if a load then fails, the objects after the gap stay, so that only the gap must
     * be computed again. For reuse that does not need a prefix.
     */
    SEGMENTED_PREFIX(true, false),

    /** All that was found. */
    SPARSE(false, false);

    private final boolean trimsPlan;
    private final boolean trimsLoaded;

    TrimPolicy(boolean trimsPlan, boolean trimsLoaded) {
        this.trimsPlan = trimsPlan;
        this.trimsLoaded = trimsLoaded;
    }

    /**
     * Trims what was found to what is worth loading.
     *
     * @param groups the model's object groups
     * @param found a row of chunks for each group and rank; changed
     * @param servable overwritten as by {@link ObjectGroups#fold(BitmapGrid, Bitmap)}
     * @return chunks of the longest prefix that can be served
     * @throws IllegalArgumentException as fold does
     */
    public int plan(ObjectGroups groups, BitmapGrid found, Bitmap servable) {
        return trimsPlan ? groups.trim(found, servable) : groups.fold(found, servable);
    }

    /**
     * Trims what was loaded to what the request gets.
     *
     * @param groups the model's object groups
     * @param loaded a row of chunks for each group and rank; changed
     * @param servable overwritten as by {@link ObjectGroups#fold(BitmapGrid, Bitmap)}
     * @return chunks of the longest prefix that can be served
     * @throws IllegalArgumentException as fold does
     */
    public int retain(ObjectGroups groups, BitmapGrid loaded, Bitmap servable) {
        return trimsLoaded ? groups.trim(loaded, servable) : groups.fold(loaded, servable);
    }

    /** Trims a flat list of found objects, without windows, to what is worth loading; returns the leading ones. */
    public int plan(Bitmap found) {
        return trim(found, trimsPlan);
    }

    /** Trims a flat list of loaded objects, without windows, to what the request gets; returns the leading ones. */
    public int retain(Bitmap loaded) {
        return trim(loaded, trimsLoaded);
    }

    private static int trim(Bitmap bits, boolean toPrefix) {
        int prefix = bits.leadingOnes();
        if (toPrefix) {
            bits.clearRange(prefix, bits.size());
        }
        return prefix;
    }
}
