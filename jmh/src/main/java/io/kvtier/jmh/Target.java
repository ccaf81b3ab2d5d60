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
 * @param bytesPerOp the most bytes of Java memory that an operation may allocate; infinite if any will do. What JMH
 *     itself allocates counts, so this is a little above 0 where the text says 0
 */
record Target(double ratio, boolean above, double nanos, double bytesPerOp) {
    static final Target NONE = new Target(-1, false, Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY);

    static Target atLeast(double ratio) {
        return new Target(ratio, false, NONE.nanos, NONE.bytesPerOp);
    }

    static Target fasterAndWithin(double nanos) {
        return new Target(1, true, nanos, NONE.bytesPerOp);
    }

    Target withoutAllocation(double noise) {
        return new Target(ratio, above, nanos, noise);
    }

    boolean isNone() {
        return equals(NONE);
    }

    boolean isMet(double measuredRatio, Score ours) {
        return (above ? measuredRatio > ratio : measuredRatio >= ratio)
                && ours.nanos() <= nanos
                && ours.bytesPerOp() <= bytesPerOp;
    }

    @Override
    public String toString() {
        List<String> parts = new ArrayList<>();
        if (nanos < Double.POSITIVE_INFINITY) {
            parts.add(String.format(Locale.ROOT, "<= %.0f ns", nanos));
        }
        if (ratio >= 0) {
            parts.add(String.format(Locale.ROOT, above ? "ratio > %.0f" : "ratio >= %.2f", ratio));
        }
        if (bytesPerOp < Double.POSITIVE_INFINITY) {
            parts.add("0 B/op");
        }
        return parts.isEmpty() ? "-" : String.join(", ", parts);
    }
}
