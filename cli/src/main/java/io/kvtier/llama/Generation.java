package io.kvtier.llama;

import io.kvtier.KvCache;
import io.kvtier.PrefixLease;
import io.kvtier.RequestScope;
import io.kvtier.Retrieved;
import io.kvtier.transfer.PagedKv;
import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/**
 * One request of the reference engine, which uses the cache as any engine would: it looks the prompt up, lets the cache
 * restore what is there into the paged KV, computes the rest, and hands each chunk to the cache as soon as it is full.
 */
public final class Generation {
    private static final int BLOCK_TOKENS = 8;
    private static final int SPARE_BLOCKS = 7;
    private static final long TABLE_SEED = 42;
    private static final Retrieved NOTHING = new Retrieved(0, 0, 0);

    private final Decoder decoder;
    private final @Nullable KvCache cache;

    /**
     * What a generation did.
     *
     * @param promptTokens tokens of the prompt, the start token included
     * @param restoredTokens those whose KV the cache gave and that were not computed
     * @param restoredL1Tokens those of them from memory
     * @param restoredL2Tokens those of them from the tiers below
     * @param computedTokens tokens of the prompt that were computed; at least the last one
     * @param tokens the generated ids
     * @param firstTokenNanos time from the start to the first generated token
     */
    public record Result(
            int promptTokens,
            int restoredTokens,
            int restoredL1Tokens,
            int restoredL2Tokens,
            int computedTokens,
            List<Integer> tokens,
            long firstTokenNanos) {}

    /**
     * Creates an engine.
     *
     * @param decoder the model
     * @param cache the cache, or null to do without
     */
    public Generation(Decoder decoder, @Nullable KvCache cache) {
        this.decoder = decoder;
        this.cache = cache;
    }

    /**
     * Generates greedily until the story ends or there are enough tokens.
     *
     * @param prompt token ids, the start token first
     * @param steps most tokens to generate
     * @param listener is given each token as it comes
     * @throws IllegalArgumentException if prompt and steps exceed the model's longest sequence
     */
    public Result run(int[] prompt, int steps, IntConsumer listener) {
        int maxTokens = decoder.config().maxTokens();
        // The last generated token is not fed back, so it needs no position.
        if (prompt.length + steps - 1 > maxTokens) {
            throw new IllegalArgumentException("a prompt of " + prompt.length + " tokens and " + steps + " steps need "
                    + (prompt.length + steps - 1) + " positions, the model has " + maxTokens);
        }
        try (Arena arena = Arena.ofConfined()) {
            BlockTable table = BlockTable.permuted(maxTokens, BLOCK_TOKENS, SPARE_BLOCKS, TABLE_SEED);
            PagedKv kv = PagedKv.allocate(decoder.config().kvLayout(), table.blocks(), table.blockTokens(), arena);
            return new Run(Arrays.copyOf(prompt, prompt.length + steps), prompt.length, kv, table.slotMapping())
                    .generate(steps, listener);
        }
    }

    private final class Run {
        private final int[] tokens;
        private final int promptLength;
        private final PagedKv kv;
        private final int[] slotMapping;

        Run(int[] tokens, int promptLength, PagedKv kv, int[] slotMapping) {
            this.tokens = tokens;
            this.promptLength = promptLength;
            this.kv = kv;
            this.slotMapping = slotMapping;
        }

        Result generate(int steps, IntConsumer listener) {
            long start = System.nanoTime();
            Retrieved retrieved = restore();
            int restored = Math.min(retrieved.tokens(), promptLength - 1);
            prefill(restored);
            long firstTokenNanos = 0;
            int length = promptLength;
            while (length - promptLength < steps) {
                int next = GreedySampler.next(step(length - 1));
                if (firstTokenNanos == 0) {
                    firstTokenNanos = System.nanoTime() - start;
                }
                if (next == Tokenizer.START || next == Tokenizer.END) {
                    break;
                }
                tokens[length++] = next;
                listener.accept(next);
            }
            // Of a prompt that was restored to its last token, that token was computed again.
            int fromMemory = Math.min(retrieved.memoryTokens(), restored);
            return new Result(
                    promptLength,
                    restored,
                    fromMemory,
                    restored - fromMemory,
                    promptLength - restored,
                    Arrays.stream(tokens, promptLength, length).boxed().toList(),
                    firstTokenNanos);
        }

        private Retrieved restore() {
            if (cache == null) {
                return NOTHING;
            }
            try (PrefixLease lease = cache.lookup(tokens, promptLength, RequestScope.DEFAULT)) {
                return cache.retrieve(lease, kv, slotMapping);
            }
        }

        /** Computes the prompt from a position up to but without its last token, chunk by chunk. */
        private void prefill(int from) {
            int position = from;
            while (position < promptLength - 1) {
                int end = Math.min(promptLength - 1, nextBoundary(position));
                decoder.prefill(tokens, position, end, kv, slotMapping);
                position = end;
                storeIfFull(position);
            }
        }

        private float[] step(int position) {
            float[] logits = decoder.step(tokens[position], position, kv, slotMapping);
            storeIfFull(position + 1);
            return logits;
        }

        private int nextBoundary(int position) {
            int chunk =
                    cache == null ? tokens.length : cache.config().identity().chunkTokens();
            return (position / chunk + 1) * chunk;
        }

        private void storeIfFull(int length) {
            if (cache != null && length % cache.config().identity().chunkTokens() == 0) {
                cache.store(tokens, length, kv, slotMapping, RequestScope.DEFAULT);
            }
        }
    }
}
