package io.kvtier.llama;

/**
 * Rotary position embedding: neighbouring elements {@code (2i, 2i + 1)} of each head are rotated by the angle {@code
 * position * 10000^(-2i / headSize)}.
 *
 * @see <a href="https://arxiv.org/abs/2104.09864">RoFormer: Enhanced Transformer with Rotary Position Embedding</a>
 */
final class Rotation {
    private static final double BASE = 10_000;

    private final int pairs;
    /** {@code [maxTokens][pairs of a head]}. */
    private final float[] cosines;
    /** {@code [maxTokens][pairs of a head]}. */
    private final float[] sines;

    Rotation(ModelConfig config) {
        pairs = config.headSize() / 2;
        cosines = new float[config.maxTokens() * pairs];
        sines = new float[config.maxTokens() * pairs];
        for (int pair = 0; pair < pairs; pair++) {
            double frequency = StrictMath.pow(BASE, -2.0 * pair / config.headSize());
            for (int position = 0; position < config.maxTokens(); position++) {
                cosines[position * pairs + pair] = (float) StrictMath.cos(position * frequency);
                sines[position * pairs + pair] = (float) StrictMath.sin(position * frequency);
            }
        }
    }

    /** Rotates all heads of a vector of whole heads in place. */
    void rotate(float[] heads, int position) {
        for (int i = 0; i < heads.length; i += 2) {
            int angle = position * pairs + i / 2 % pairs;
            float first = heads[i];
            float second = heads[i + 1];
            heads[i] = first * cosines[angle] - second * sines[angle];
            heads[i + 1] = first * sines[angle] + second * cosines[angle];
        }
    }
}
