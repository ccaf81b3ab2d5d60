package io.kvtier.llama;

/** Chooses the most probable token. */
public final class GreedySampler {
    private GreedySampler() {}

    /**
     * Returns the token with the highest logit, the lowest one on a tie.
     *
     * @throws IllegalArgumentException if there are no logits or one is not a number, which only broken KV or weights
     *     lead to
     */
    public static int next(float[] logits) {
        if (logits.length == 0) {
            throw new IllegalArgumentException("logits must not be empty");
        }
        int best = 0;
        for (int token = 0; token < logits.length; token++) {
            if (Float.isNaN(logits[token])) {
                throw new IllegalArgumentException("logit of token " + token + " is not a number");
            }
            if (logits[token] > logits[best]) {
                best = token;
            }
        }
        return best;
    }
}
