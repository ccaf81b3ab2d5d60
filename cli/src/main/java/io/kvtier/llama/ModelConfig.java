package io.kvtier.llama;

import io.kvtier.layout.ElementType;
import io.kvtier.layout.KvLayout;

/**
 * The dimensions of a model of the Llama family, as the header of a llama2.c checkpoint gives them.
 *
 * @param dim elements of the residual stream
 * @param hiddenDim elements between the matrices of the feed-forward part
 * @param layers decoder layers
 * @param heads query heads; each reads KV head {@code head / (heads / kvHeads)}
 * @param kvHeads KV heads
 * @param vocabulary number of tokens
 * @param maxTokens longest sequence in tokens
 * @param sharedEmbedding whether the output matrix is the token embedding
 */
public record ModelConfig(
        int dim,
        int hiddenDim,
        int layers,
        int heads,
        int kvHeads,
        int vocabulary,
        int maxTokens,
        boolean sharedEmbedding) {

    private static final int MAX_DIM = 1 << 15;
    private static final int MAX_HIDDEN_DIM = 1 << 17;
    private static final int MAX_LAYERS = 1 << 10;
    private static final int MAX_VOCABULARY = 1 << 20;
    private static final int MAX_TOKENS = 1 << 20;

    /**
     * Checks the dimensions.
     *
     * @throws IllegalArgumentException if one is below 1 or beyond what a real model has, the heads do not divide what
     *     they split, the head size is odd, or a matrix does not fit an array
     */
    public ModelConfig {
        requireWithin("dim", dim, MAX_DIM);
        requireWithin("hiddenDim", hiddenDim, MAX_HIDDEN_DIM);
        requireWithin("layers", layers, MAX_LAYERS);
        requireWithin("heads", heads, dim);
        requireWithin("kvHeads", kvHeads, heads);
        requireWithin("vocabulary", vocabulary, MAX_VOCABULARY);
        requireWithin("maxTokens", maxTokens, MAX_TOKENS);
        requireDivisible("dim", dim, "heads", heads);
        requireDivisible("heads", heads, "kvHeads", kvHeads);
        if (dim / heads % 2 != 0) {
            throw new IllegalArgumentException("head size (dim / heads) must be even, as pairs are rotated, got " + dim
                    + " / " + heads + " = " + dim / heads);
        }
        requireArray("hiddenDim", hiddenDim, dim);
        requireArray("vocabulary", vocabulary, dim);
        requireArray("maxTokens", maxTokens, dim);
    }

    /** Returns the elements per head. */
    public int headSize() {
        return dim / heads;
    }

    /** Returns the elements of K, and of V, of one token in one layer. */
    public int kvDim() {
        return kvHeads * headSize();
    }

    /** Returns the layout of the KV: float32 keys (after the rotation) and values. */
    public KvLayout kvLayout() {
        return KvLayout.keyValue(ElementType.F32, layers, kvHeads, headSize());
    }

    private static void requireWithin(String name, int value, int max) {
        if (value < 1 || value > max) {
            throw new IllegalArgumentException(name + " must be within 1.." + max + ", got " + value);
        }
    }

    private static void requireDivisible(String name, int value, String divisorName, int divisor) {
        if (value % divisor != 0) {
            throw new IllegalArgumentException(
                    name + " must be divisible by " + divisorName + ", got " + value + " and " + divisor);
        }
    }

    private static void requireArray(String name, int value, int dim) {
        if ((long) value * dim > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(
                    name + " x dim must be at most " + Integer.MAX_VALUE + ", got " + value + " x " + dim);
        }
    }
}
