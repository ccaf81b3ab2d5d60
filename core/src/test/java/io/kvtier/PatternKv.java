package io.kvtier;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvtier.layout.ElementType;
import io.kvtier.layout.KvLayout;
import io.kvtier.tier.FileTierConfig;
import io.kvtier.transfer.PagedKv;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * An engine whose KV follows from the prompt: a row is a number made of all tokens up to its own, the position, the layer
 * and the plane. Blocks of 3 tokens, chunks of 4.
 */
public final class PatternKv implements AutoCloseable {
    /** 2 layers, rows of 8 bytes. */
    public static final KvLayout LAYOUT = KvLayout.keyValue(ElementType.F16, 2, 1, 4);

    /** Tokens per chunk. */
    public static final int CHUNK = 4;

    /** Bytes of an object; its record takes 8192 on disk. */
    public static final long OBJECT_BYTES = LAYOUT.objectBytes(CHUNK);

    private static final int BLOCK_TOKENS = 3;
    private static final byte UNTOUCHED = 0x5A;
    private static final long UNTOUCHED_ROW = 0x5A5A5A5A5A5A5A5AL;

    private final Arena arena = Arena.ofConfined();
    private final int[] tokens;
    private final int[] slots;
    private final PagedKv kv;

    private PatternKv(int[] tokens) {
        this.tokens = tokens;
        int blocks = tokens.length / BLOCK_TOKENS + 2;
        this.kv = PagedKv.allocate(LAYOUT, blocks, BLOCK_TOKENS, arena);
        this.slots = permutation(tokens.length, blocks * BLOCK_TOKENS, new Random(tokens.length));
        clear();
    }

    /** Returns an engine that has computed nothing of a prompt. */
    public static PatternKv empty(int... tokens) {
        return new PatternKv(tokens);
    }

    /** Returns an engine that has computed all of a prompt. */
    public static PatternKv computed(int... tokens) {
        PatternKv result = new PatternKv(tokens);
        result.compute(0);
        return result;
    }

    /** Returns the settings of a cache for this KV with memory for so many objects. */
    public static KvCacheConfig.Builder config(int memoryObjects) {
        return KvCacheConfig.builder("model")
                .layout(LAYOUT)
                .chunkTokens(CHUNK)
                .memoryBytes(memoryObjects * OBJECT_BYTES);
    }

    /** Returns the settings of a cache with memory and a folder. */
    public static KvCacheConfig.Builder config(int memoryObjects, Path folder) {
        return config(memoryObjects).tier(FileTierConfig.in(folder));
    }

    /** Returns a prompt of so many tokens from a seed. */
    public static int[] prompt(int length, int seed) {
        return new Random(seed).ints(length, 0, 128_000).toArray();
    }

    /** Returns the record files in a cache folder. */
    public static Set<Path> records(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder.resolve("objects"))) {
            return files.filter(Files::isRegularFile).collect(Collectors.toSet());
        }
    }

    /** Returns the prompt's tokens. */
    public int[] tokens() {
        return tokens;
    }

    /** Returns the slot of each token: in no order, and some slots stay unused. */
    public int[] slots() {
        return slots;
    }

    /** Returns the memory. */
    public PagedKv kv() {
        return kv;
    }

    /** Writes the rows from a token on. */
    public void compute(int from) {
        forEachRow((token, layer, plane, row) -> {
            if (token >= from) {
                kv.plane(layer, plane).setAtIndex(ValueLayout.JAVA_LONG, slots[token], row);
            }
        });
    }

    /** Marks all rows as not written. */
    public void clear() {
        for (int layer = 0; layer < LAYOUT.layers(); layer++) {
            for (int plane = 0; plane < LAYOUT.planes(); plane++) {
                kv.plane(layer, plane).fill(UNTOUCHED);
            }
        }
    }

    /** Checks that the first rows are right and no row after them was written. */
    public void requirePrefix(int length) {
        forEachRow((token, layer, plane, row) -> {
            long found = kv.plane(layer, plane).getAtIndex(ValueLayout.JAVA_LONG, slots[token]);
            if (found != (token < length ? row : UNTOUCHED_ROW)) {
                throw new AssertionError("token " + token + " of " + length + " restored, layer " + layer + ", plane "
                        + plane + ": found " + Long.toHexString(found));
            }
        });
    }

    /** Stores the prompt. */
    public Stored store(KvCache cache) {
        return cache.store(tokens, kv, slots);
    }

    /** Looks up and retrieves into cleared memory, checks every row, and returns what came. */
    public Retrieved retrieve(KvCache cache) {
        clear();
        try (PrefixLease lease = cache.lookup(tokens)) {
            Retrieved retrieved = cache.retrieve(lease, kv, slots);
            assertThat(retrieved.memoryTokens() + retrieved.lowerTokens()).isEqualTo(retrieved.tokens());
            assertThat(lease.tokens()).isEqualTo(retrieved.tokens());
            requirePrefix(retrieved.tokens());
            return retrieved;
        }
    }

    /** Frees the memory. */
    @Override
    public void close() {
        arena.close();
    }

    private void forEachRow(RowVisitor visitor) {
        long prefix = 1;
        for (int token = 0; token < tokens.length; token++) {
            prefix = (prefix + tokens[token]) * 0x9E3779B97F4A7C15L;
            for (int layer = 0; layer < LAYOUT.layers(); layer++) {
                for (int plane = 0; plane < LAYOUT.planes(); plane++) {
                    visitor.visit(token, layer, plane, prefix ^ (token * 64L + layer * 8L + plane));
                }
            }
        }
    }

    private static int[] permutation(int count, int bound, Random random) {
        int[] all = IntStream.range(0, bound).toArray();
        for (int i = bound - 1; i > 0; i--) {
            int j = random.nextInt(i + 1);
            int swapped = all[i];
            all[i] = all[j];
            all[j] = swapped;
        }
        return java.util.Arrays.copyOf(all, count);
    }

    private interface RowVisitor {
        void visit(int token, int layer, int plane, long row);
    }
}
