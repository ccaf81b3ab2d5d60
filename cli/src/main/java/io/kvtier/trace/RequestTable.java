package io.kvtier.trace;

import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;

/** One row of numbers for each request. */
final class RequestTable {
    private double[] times;
    private long[] starts;
    private int[] counts;
    private int[] inputs;
    private int size;

    RequestTable(int capacity) {
        times = new double[capacity];
        starts = new long[capacity];
        counts = new int[capacity];
        inputs = new int[capacity];
    }

    int size() {
        return size;
    }

    /** Returns where the request's blocks start in the list of all blocks. */
    long start(int request) {
        return starts[request];
    }

    int blocks(int request) {
        return counts[request];
    }

    int input(int request) {
        return inputs[request];
    }

    void add(double time, long start, int blocks, int input) throws BadLineException {
        if (size == times.length) {
            grow();
        }
        put(time, start, blocks, input);
    }

    private void put(double time, long start, int blocks, int input) {
        times[size] = time;
        starts[size] = start;
        counts[size] = blocks;
        inputs[size] = input;
        size++;
    }

    /** Returns the rows' numbers by time; rows of one time stay in order. */
    int[] byTime() {
        return IntStream.range(0, size)
                .boxed()
                .sorted(Comparator.comparingDouble(row -> times[row]))
                .mapToInt(Integer::intValue)
                .toArray();
    }

    private void grow() throws BadLineException {
        if (size > Integer.MAX_VALUE / 2) {
            throw new BadLineException("there are more than " + size + " requests");
        }
        times = Arrays.copyOf(times, 2 * size);
        starts = Arrays.copyOf(starts, 2 * size);
        counts = Arrays.copyOf(counts, 2 * size);
        inputs = Arrays.copyOf(inputs, 2 * size);
    }

    /** Returns the first so many rows in the given order. */
    RequestTable ordered(int[] order, int rows) {
        RequestTable kept = new RequestTable(rows);
        for (int i = 0; i < rows; i++) {
            int row = order[i];
            kept.put(times[row], starts[row], counts[row], inputs[row]);
        }
        return kept;
    }
}
