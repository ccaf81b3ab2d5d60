package io.kvtier.jmh;

import org.jspecify.annotations.Nullable;

/**
 * One comparison.
 *
 * @param measure name of the measure
 * @param name name of the case
 * @param unit what the values count in
 * @param bytes bytes that an operation handles
 * @param ours our score, or null if our benchmark failed
 * @param anchorName name of the anchor
 * @param anchor its score, or null if there is none
 * @param pairs what both scores were made from, or null if they were measured apart
 * @param missing whether neither can run here
 * @param reason why a score is missing, or null
 * @param target what we promise
 */
record Row(
        String measure,
        String name,
        Unit unit,
        long bytes,
        @Nullable Score ours,
        String anchorName,
        @Nullable Score anchor,
        @Nullable Pairs pairs,
        boolean missing,
        @Nullable String reason,
        Target target) {

    /** Returns how many times better ours is, or null if that cannot be known. */
    @Nullable
    Double ratio() {
        if (pairs != null) {
            return pairs.ratio();
        }
        if (ours == null || anchor == null) {
            return null;
        }
        return unit.ratio(unit.value(ours.nanos(), bytes), unit.value(anchor.nanos(), bytes));
    }

    /** Returns whether the target is met, or null if there is none or it cannot be known. */
    @Nullable
    Boolean met() {
        Double ratio = ratio();
        if (ours == null || anchor == null || ratio == null || target.isNone()) {
            return null;
        }
        return target.isMet(ratio, ours, anchor);
    }
}
