package io.kvtier.llama;

/**
 * The arithmetic of a decoder layer in float32. Every sum runs in index order and the exponential is that of {@link
 * StrictMath}, so that equal inputs give equal bits in every process and on every machine: only then do KV from a cache
 * and computed KV lead to the same logits.
 */
final class Kernels {
    private static final float NORM_EPSILON = 1e-5f;

    private Kernels() {}

    /** Computes {@code out = matrix in}, the matrix being {@code [out.length][in.length]}. */
    static void multiply(float[] out, float[] matrix, float[] in) {
        for (int row = 0; row < out.length; row++) {
            out[row] = dot(matrix, row * in.length, in, 0, in.length);
        }
    }

    /** Returns the sum of products of {@code length} neighbouring elements. */
    static float dot(float[] a, int aFrom, float[] b, int bFrom, int length) {
        float sum = 0;
        for (int i = 0; i < length; i++) {
            sum += a[aFrom + i] * b[bFrom + i];
        }
        return sum;
    }

    /** Adds {@code in} to {@code out}, element by element. */
    static void add(float[] out, float[] in) {
        for (int i = 0; i < out.length; i++) {
            out[i] += in[i];
        }
    }

    /** Computes {@code out = in / sqrt(mean(in * in) + 1e-5) * weight}. */
    static void rmsNorm(float[] out, float[] in, float[] weight) {
        float meanSquare = dot(in, 0, in, 0, in.length) / in.length;
        float scale = (float) (1 / Math.sqrt(meanSquare + NORM_EPSILON));
        for (int i = 0; i < out.length; i++) {
            out[i] = in[i] * scale * weight[i];
        }
    }

    /** Turns {@code length} neighbouring scores into probabilities. */
    static void softmax(float[] scores, int from, int length) {
        float max = Float.NEGATIVE_INFINITY;
        for (int i = from; i < from + length; i++) {
            max = Math.max(max, scores[i]);
        }
        float sum = 0;
        for (int i = from; i < from + length; i++) {
            scores[i] = (float) StrictMath.exp(scores[i] - max);
            sum += scores[i];
        }
        for (int i = from; i < from + length; i++) {
            scores[i] /= sum;
        }
    }

    /** Computes {@code gate = silu(gate) * up}, element by element, with {@code silu(x) = x / (1 + exp(-x))}. */
    static void gate(float[] gate, float[] up) {
        for (int i = 0; i < gate.length; i++) {
            float sigmoid = (float) (1 / (1 + StrictMath.exp(-gate[i])));
            gate[i] = gate[i] * sigmoid * up[i];
        }
    }
}
