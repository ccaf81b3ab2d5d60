package io.kvtier.llama;

import io.kvtier.transfer.PagedKv;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** A greedy run from the start token alone, with all that came of it. */
final class GreedyRun {
    static final Weights WEIGHTS = Weights.bundled();

    private static final ValueLayout.OfFloat FLOAT =
            ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    final int[] ids;
    final float[][] logits;
    final PagedKv kv;
    final int[] slots;

    GreedyRun(BlockTable table, int steps) {
        Decoder decoder = new Decoder(WEIGHTS);
        slots = table.slotMapping();
        kv = PagedKv.allocate(WEIGHTS.config().kvLayout(), table.blocks(), table.blockTokens(), Arena.ofAuto());
        ids = new int[steps + 1];
        logits = new float[steps][];
        ids[0] = Tokenizer.START;
        for (int position = 0; position < steps; position++) {
            logits[position] = decoder.step(ids[position], position, kv, slots).clone();
            ids[position + 1] = GreedySampler.next(logits[position]);
        }
    }

    /** Returns a token's K (plane 0) or V (plane 1) in a layer. */
    float[] row(int layer, int plane, int position) {
        int rowBytes = kv.layout().rowBytes();
        MemorySegment row = kv.plane(layer, plane).asSlice((long) slots[position] * rowBytes, rowBytes);
        return row.toArray(FLOAT);
    }
}
