package io.kvtier.jmh;

import java.util.List;

/**
 * What JMH found for one benchmark.
 *
 * @param nanos mean time of an operation
 * @param error half of the 99.9 % confidence interval, NaN if there were too few iterations
 * @param bytesPerOp Java memory that an operation allocates
 */
record Score(double nanos, double error, double bytesPerOp) {
    /** Returns the score of doing several things one after the other. */
    static Score sum(List<Score> parts) {
        double nanos = 0;
        double squares = 0;
        double bytes = 0;
        for (Score part : parts) {
            nanos += part.nanos;
            squares += part.error * part.error;
            bytes += part.bytesPerOp;
        }
        return new Score(nanos, Math.sqrt(squares), bytes);
    }
}
