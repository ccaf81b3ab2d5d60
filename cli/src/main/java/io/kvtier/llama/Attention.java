package io.kvtier.llama;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Grouped-query attention of one token over paged K and V. A row is one token's {@code [kvHeads][headSize]} float32 in
 * little-endian order, so that KV bytes mean the same on every machine.
 */
final class Attention {
    private static final ValueLayout.OfFloat FLOAT =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private final int heads;
    private final int headsPerKvHead;
    private final int headSize;
    private final int maxTokens;
    private final float scale;
    /** One token's K or V. */
    private final float[] row;
    /** {@code [heads][maxTokens]}. */
    private final float[] scores;

    Attention(ModelConfig config) {
        heads = config.heads();
        headsPerKvHead = config.heads() / config.kvHeads();
        headSize = config.headSize();
        maxTokens = config.maxTokens();
        scale = (float) (1 / Math.sqrt(headSize));
        row = new float[config.kvDim()];
        scores = new float[heads * maxTokens];
    }

    /** Writes one token's K or V to the row of a slot. */
    static void store(float[] values, MemorySegment plane, int slot) {
        MemorySegment.copy(values, 0, plane, FLOAT, offset(values, slot), values.length);
    }

    /**
     * Computes what the heads read.
     *
     * @param out {@code [heads][headSize]}, overwritten
     * @param query {@code [heads][headSize]}, rotated
     * @param keys the layer's K plane, rows rotated
     * @param values the layer's V plane
     * @param slots slot of each position
     * @param tokens number of positions read, from position 0
     */
    void attend(float[] out, float[] query, MemorySegment keys, MemorySegment values, int[] slots, int tokens) {
        score(query, keys, slots, tokens);
        for (int head = 0; head < heads; head++) {
            Kernels.softmax(scores, head * maxTokens, tokens);
        }
        blend(out, values, slots, tokens);
    }

    private void score(float[] query, MemorySegment keys, int[] slots, int tokens) {
        for (int position = 0; position < tokens; position++) {
            load(keys, slots[position]);
            for (int head = 0; head < heads; head++) {
                float product = Kernels.dot(query, head * headSize, row, rowOffset(head), headSize);
                scores[head * maxTokens + position] = product * scale;
            }
        }
    }

    private void blend(float[] out, MemorySegment values, int[] slots, int tokens) {
        Arrays.fill(out, 0);
        for (int position = 0; position < tokens; position++) {
            load(values, slots[position]);
            for (int head = 0; head < heads; head++) {
                float weight = scores[head * maxTokens + position];
                int from = rowOffset(head);
                for (int i = 0; i < headSize; i++) {
                    out[head * headSize + i] += weight * row[from + i];
                }
            }
        }
    }

    private void load(MemorySegment plane, int slot) {
        MemorySegment.copy(plane, FLOAT, offset(row, slot), row, 0, row.length);
    }

    private int rowOffset(int head) {
        return head / headsPerKvHead * headSize;
    }

    private static long offset(float[] row, int slot) {
        return (long) slot * row.length * Float.BYTES;
    }
}
