package io.kvtier.llama;

import java.util.Arrays;
import java.util.Comparator;
import java.util.PriorityQueue;

/**
 * Byte-pair merging of one text: of all neighbouring tokens whose joined text is a piece, the pair with the highest
 * score is joined, the leftmost on a tie, until none is left. Takes {@code n log n} steps: the pairs wait in a queue,
 * and those whose tokens were meanwhile joined with others are passed over.
 */
final class PairMerger {
    private static final Comparator<Pair> ORDER =
            Comparator.comparingDouble(Pair::score).reversed().thenComparingInt(Pair::left);

    private final Vocabulary vocabulary;
    private final int[] tokens;
    /** For each place the place of the token before it, or -1. */
    private final int[] previous;
    /** For each place the place of the token after it, or the number of places; 0 once joined to the one before. */
    private final int[] next;

    private final PriorityQueue<Pair> pairs = new PriorityQueue<>(ORDER);

    /**
     * Neighbours that may be joined.
     *
     * @param left place of the left token
     * @param right place of the right token
     * @param end place after the right token
     * @param joined token of the joined text
     * @param score score of {@code joined}
     */
    private record Pair(int left, int right, int end, int joined, float score) {}

    private PairMerger(Vocabulary vocabulary, int[] tokens) {
        this.vocabulary = vocabulary;
        this.tokens = tokens;
        previous = new int[tokens.length];
        next = new int[tokens.length];
        for (int place = 0; place < tokens.length; place++) {
            previous[place] = place - 1;
            next[place] = place + 1;
        }
    }

    /** Returns the tokens that a text of such tokens merges to; {@code tokens} is overwritten. */
    static int[] merge(Vocabulary vocabulary, int[] tokens) {
        PairMerger merger = new PairMerger(vocabulary, tokens);
        for (int place = 0; place < tokens.length; place++) {
            merger.offer(place);
        }
        merger.joinAll();
        return merger.remaining();
    }

    private void joinAll() {
        for (Pair pair = pairs.poll(); pair != null; pair = pairs.poll()) {
            if (next[pair.left] == pair.right && next[pair.right] == pair.end) {
                join(pair);
            }
        }
    }

    private void join(Pair pair) {
        tokens[pair.left] = pair.joined;
        next[pair.left] = pair.end;
        next[pair.right] = 0;
        if (pair.end < tokens.length) {
            previous[pair.end] = pair.left;
        }
        offer(pair.left);
        if (previous[pair.left] >= 0) {
            offer(previous[pair.left]);
        }
    }

    /** Queues the pair of the token at a place and the next one, if a piece comes of it. */
    private void offer(int left) {
        int right = next[left];
        if (right == tokens.length) {
            return;
        }
        int joined = vocabulary.join(tokens[left], tokens[right]);
        if (joined != Vocabulary.NONE) {
            pairs.add(new Pair(left, right, next[right], joined, vocabulary.score(joined)));
        }
    }

    private int[] remaining() {
        int[] merged = new int[tokens.length];
        int count = 0;
        for (int place = 0; place < tokens.length; place = next[place]) {
            merged[count++] = tokens[place];
        }
        return Arrays.copyOf(merged, count);
    }
}
