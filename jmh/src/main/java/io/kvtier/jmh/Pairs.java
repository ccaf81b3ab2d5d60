package io.kvtier.jmh;

import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * Runs of ours and of an anchor, taken in turns: a neighbour's burst hits both of a pair, and so hardly its ratio.
 *
 * @param all the pairs in the order of the run; at least one
 */
record Pairs(List<Pair> all) {
    /**
     * One run of each.
     *
     * @param oursNanos time of ours
     * @param anchorNanos time of the anchor
     */
    record Pair(double oursNanos, double anchorNanos) {
        /** Returns how many times faster ours is. */
        double ratio() {
            return anchorNanos / oursNanos;
        }
    }

    /** Checks that there are pairs. */
    Pairs {
        if (all.isEmpty()) {
            throw new IllegalArgumentException("there must be a pair");
        }
        all = List.copyOf(all);
    }

    /** Returns the median of the ratios; not the ratio of the medians. */
    double ratio() {
        return ratio(0.5);
    }

    /** Returns the ratio that a share of the pairs does not exceed. */
    double ratio(double share) {
        return quantile(share, Pair::ratio);
    }

    /** Returns our median time. */
    Score ours() {
        return score(Pair::oursNanos);
    }

    /** Returns the anchor's median time. */
    Score anchor() {
        return score(Pair::anchorNanos);
    }

    private Score score(ToDoubleFunction<Pair> time) {
        return new Score(quantile(0.5, time), Double.NaN, Double.NaN);
    }

    /** Interpolates between the two nearest. */
    private double quantile(double share, ToDoubleFunction<Pair> value) {
        double[] sorted = all.stream().mapToDouble(value).sorted().toArray();
        double at = share * (sorted.length - 1);
        int below = (int) at;
        int above = Math.min(below + 1, sorted.length - 1);
        return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
    }
}
