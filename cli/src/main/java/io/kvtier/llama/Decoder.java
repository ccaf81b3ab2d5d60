package io.kvtier.llama;

import io.kvtier.layout.KvLayout;
import io.kvtier.transfer.PagedKv;
import java.util.Objects;

/**
 * A decoder-only transformer of the Llama family in plain Java float32, one token at a time, over paged KV that the
 * caller owns. Equal weights, tokens and KV bytes give equal logits bits, whichever slots the KV lies in. Not
 * thread-safe; a step allocates nothing.
 *
 * @see <a href="https://github.com/karpathy/llama2.c">llama2.c, whose forward pass this follows</a>
 */
public final class Decoder {
    private static final int KEYS = 0;
    private static final int VALUES = 1;

    private final ModelConfig config;
    private final KvLayout layout;
    private final Weights weights;
    private final Rotation rotation;
    private final Attention attention;

    private final float[] residual;
    private final float[] normed;
    private final float[] delta;
    private final float[] query;
    private final float[] attended;
    private final float[] key;
    private final float[] value;
    private final float[] gate;
    private final float[] up;
    private final float[] logits;

    /** Creates a decoder with buffers of its own; the weights are shared. */
    public Decoder(Weights weights) {
        this.weights = weights;
        config = weights.config();
        layout = config.kvLayout();
        rotation = new Rotation(config);
        attention = new Attention(config);
        residual = new float[config.dim()];
        normed = new float[config.dim()];
        delta = new float[config.dim()];
        query = new float[config.dim()];
        attended = new float[config.dim()];
        key = new float[config.kvDim()];
        value = new float[config.kvDim()];
        gate = new float[config.hiddenDim()];
        up = new float[config.hiddenDim()];
        logits = new float[config.vocabulary()];
    }

    /** Returns the dimensions of the model. */
    public ModelConfig config() {
        return config;
    }

    /**
     * Computes the logits of the token after {@code position}. Writes K (after the rotation) and V of the token to the
     * row {@code slotMapping[position]} of every layer and reads those of positions 0 to {@code position}, which
     * earlier steps wrote or a cache restored.
     *
     * @param token the token at {@code position}
     * @param position index of the token in its sequence, from 0
     * @param kv paged KV of layout {@link ModelConfig#kvLayout()}; elements are little endian
     * @param slotMapping slot of each position, at least up to {@code position}
     * @return {@code [vocabulary]} logits, in a buffer of this decoder that the next step overwrites
     * @throws IndexOutOfBoundsException if the token, the position or a slot does not exist
     * @throws IllegalArgumentException if the KV has another layout
     */
    public float[] step(int token, int position, PagedKv kv, int[] slotMapping) {
        checkKv(position, kv, slotMapping);
        checkToken(token, position);
        forward(token, position, kv, slotMapping);
        Kernels.rmsNorm(normed, residual, weights.lastNorm);
        Kernels.multiply(logits, weights.output, normed);
        return logits;
    }

    /**
     * Computes and writes the KV of tokens without their logits, as if by steps in order.
     *
     * @param tokens the sequence; {@code tokens[p]} is the token at position {@code p}
     * @param from first position to compute; the KV of those before is in place
     * @param to position after the last to compute; nothing is done if it equals {@code from}
     * @param kv as in {@link #step}
     * @param slotMapping as in {@link #step}
     * @throws IndexOutOfBoundsException if the range is not one of {@code tokens}, or a token, a position or a slot
     *     does not exist; nothing is written then
     * @throws IllegalArgumentException if the KV has another layout
     */
    public void prefill(int[] tokens, int from, int to, PagedKv kv, int[] slotMapping) {
        Objects.checkFromToIndex(from, to, tokens.length);
        if (from == to) {
            return;
        }
        checkKv(to - 1, kv, slotMapping);
        for (int position = from; position < to; position++) {
            checkToken(tokens[position], position);
        }
        for (int position = from; position < to; position++) {
            forward(tokens[position], position, kv, slotMapping);
        }
    }

    private void forward(int token, int position, PagedKv kv, int[] slots) {
        System.arraycopy(weights.embedding, token * config.dim(), residual, 0, config.dim());
        for (int layer = 0; layer < config.layers(); layer++) {
            attention(layer, position, kv, slots);
            feedForward(layer);
        }
    }

    private void attention(int layer, int position, PagedKv kv, int[] slots) {
        Kernels.rmsNorm(normed, residual, weights.attentionNorm[layer]);
        Kernels.multiply(query, weights.query[layer], normed);
        Kernels.multiply(key, weights.key[layer], normed);
        Kernels.multiply(value, weights.value[layer], normed);
        rotation.rotate(query, position);
        rotation.rotate(key, position);
        var keys = kv.plane(layer, KEYS);
        var values = kv.plane(layer, VALUES);
        Attention.store(key, keys, slots[position]);
        Attention.store(value, values, slots[position]);
        attention.attend(attended, query, keys, values, slots, position + 1);
        Kernels.multiply(delta, weights.attentionOutput[layer], attended);
        Kernels.add(residual, delta);
    }

    private void feedForward(int layer) {
        Kernels.rmsNorm(normed, residual, weights.feedForwardNorm[layer]);
        Kernels.multiply(gate, weights.gate[layer], normed);
        Kernels.multiply(up, weights.up[layer], normed);
        Kernels.gate(gate, up);
        Kernels.multiply(delta, weights.down[layer], gate);
        Kernels.add(residual, delta);
    }

    private void checkToken(int token, int position) {
        if (token < 0 || token >= config.vocabulary()) {
            throw new IndexOutOfBoundsException("token " + token + " at position " + position
                    + " is not in the vocabulary of " + config.vocabulary() + " tokens");
        }
    }

    private void checkKv(int position, PagedKv kv, int[] slots) {
        if (position < 0 || position >= config.maxTokens()) {
            throw new IndexOutOfBoundsException(
                    "position " + position + " is not within the model's " + config.maxTokens() + " tokens");
        }
        if (position >= slots.length) {
            throw new IndexOutOfBoundsException(
                    "position " + position + " is not within the slot mapping of " + slots.length + " tokens");
        }
        if (!kv.layout().equals(layout)) {
            throw new IllegalArgumentException("paged KV must have layout " + layout + ", has " + kv.layout());
        }
        for (int p = 0; p <= position; p++) {
            if (slots[p] < 0 || slots[p] >= kv.slots()) {
                throw new IndexOutOfBoundsException("slot " + slots[p] + " of position " + p
                        + " is not within the paged KV of " + kv.slots() + " slots");
            }
        }
    }
}
