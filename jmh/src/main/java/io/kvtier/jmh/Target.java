package io.kvtier.jmh;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What a row promises.
 *
 * @param ratio the least ratio; below 0 if any will do
 * @param above whether the ratio must be above that, not just reach it
 * @param nanos the most nanoseconds; infinite if any will do
 * @param extraNanos the most nanoseconds more than the anchor; infinite if any will do
 * @param bytesPerOp the most bytes of Java memory that an operation may allocate; infinite if any will do. What JMH
 *     itself allocates counts, so this is a little above 0 where the text says 0
 */
record Target(double ratio, boolean above, double nanos, double extraNanos, double bytesPerOp) {
    private static final double ANY = Double.POSITIVE_INFINITY;

    static final Target NONE = new Target(-1, false, ANY, ANY, ANY);

    static Target atLeast(double ratio) {
        return new Target(ratio, false, ANY, ANY, ANY);
    }

    static Target fasterAndWithin(double nanos) {
        return new Target(1, true, nanos, ANY, ANY);
    }

    static Target atMostAboveAnchor(double extraNanos) {
        return new Target(NONE.ratio, false, ANY, extraNanos, ANY);
    }

    Target withoutAllocation(double noise) {
        return new Target(ratio, above, nanos, extraNanos, noise);
    }

    boolean isNone() {
        return equals(NONE);
    }

    boolean isMet(double measuredRatio, Score ours, Score anchor) {
        return (above ? measuredRatio > ratio : measuredRatio >= ratio)
                && ours.nanos() <= nanos
                && ours.nanos() - anchor.nanos() <= extraNanos
                && (bytesPerOp == ANY || ours.bytesPerOp() <= bytesPerOp);
    }

    @Override
    public String toString() {
        List<String> parts = new ArrayList<>();
        if (nanos < ANY) {
            parts.add(String.format(Locale.ROOT, "<= %.0f ns", nanos));
        }
        if (extraNanos < ANY) {
            parts.add(String.format(Locale.ROOT, "<= anchor + %.1f ns", extraNanos));
        }
        if (ratio >= 0) {
            parts.add(String.format(Locale.ROOT, above ? "ratio > %.0f" : "ratio >= %.2f", ratio));
        }
        if (bytesPerOp < ANY) {
            parts.add("0 B/op");
        }
        return parts.isEmpty() ? "-" : String.join(", ", parts);
    }
}
