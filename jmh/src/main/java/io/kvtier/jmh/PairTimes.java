package io.kvtier.jmh;

import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** Times a pair, ours and the anchor one right after the other; JMH reports both times of each iteration. */
@AuxCounters(AuxCounters.Type.EVENTS)
@State(Scope.Thread)
public class PairTimes {
    static final String OURS = "oursNanos";
    static final String ANCHOR = "anchorNanos";

    /** What JMH reports as {@link #OURS}. */
    public long oursNanos;

    /** What JMH reports as {@link #ANCHOR}. */
    public long anchorNanos;

    private boolean anchorFirst;

    /** Runs both, in turns the one or the other first. */
    void measure(Runnable ours, Runnable anchor) {
        if (anchorFirst) {
            anchorNanos += nanos(anchor);
            oursNanos += nanos(ours);
        } else {
            oursNanos += nanos(ours);
            anchorNanos += nanos(anchor);
        }
        anchorFirst = !anchorFirst;
    }

    private static long nanos(Runnable operation) {
        long start = System.nanoTime();
        operation.run();
        return System.nanoTime() - start;
    }
}
