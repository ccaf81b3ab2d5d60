package io.kvtier.object;

import io.kvtier.layout.ElementType;
import io.kvtier.layout.KvFormat;
import io.kvtier.layout.KvLayout;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;

/** Key spaces and keys for tests. */
public final class SampleKeys {
    public static final KvLayout LAYOUT = new KvLayout(KvFormat.KEY_VALUE, ElementType.F16, 4, 2, 8, 2);
    public static final CacheIdentity IDENTITY =
            new CacheIdentity("model", "revision", "adapter", "sha256-chain-1", 32, 4, LAYOUT, 4);
    public static final KeySpace SPACE =
            new KeySpace(IDENTITY, 1, 0, KeySpace.ALL_LAYERS, "tenant", Map.of("name", "value"));

    private SampleKeys() {}

    /** Returns the chunk hash number {@code n}. */
    public static ChunkHash hash(long n, int bytes) {
        byte[] hash = new byte[32];
        new SplittableRandom(n).nextBytes(hash);
        return ChunkHash.of(Arrays.copyOf(hash, bytes));
    }

    /** Returns keys number 0 to {@code count - 1} of a key space. */
    public static ObjectKeys keys(KeySpaces spaces, KeySpace space, int count) {
        ObjectKeys keys = spaces.keys(space);
        for (int i = 0; i < count; i++) {
            keys.add(hash(i, space.identity().hashBytes()));
        }
        return keys;
    }

    /** Returns key spaces that differ from {@link #SPACE} in the one field that names them. */
    public static Map<String, KeySpace> variants() {
        Map<String, KeySpace> variants = new LinkedHashMap<>();
        CacheIdentity i = IDENTITY;
        identity(variants, "model name", "model2", "revision", "adapter", "sha256-chain-1", 32, 4, LAYOUT, 4);
        identity(variants, "model revision", "model", "", "adapter", "sha256-chain-1", 32, 4, LAYOUT, 4);
        identity(variants, "adapter name", "model", "revision", "", "sha256-chain-1", 32, 4, LAYOUT, 4);
        identity(variants, "hash scheme", "model", "revision", "adapter", "sha256-chain-2", 32, 4, LAYOUT, 4);
        identity(variants, "hash bytes", "model", "revision", "adapter", "sha256-chain-1", 31, 4, LAYOUT, 4);
        identity(variants, "chunk tokens", "model", "revision", "adapter", "sha256-chain-1", 32, 5, LAYOUT, 4);
        identity(variants, "world size", "model", "revision", "adapter", "sha256-chain-1", 32, 4, LAYOUT, 5);
        layout(variants, "format", KvFormat.OPAQUE, ElementType.F16, 4, 2, 8, 2);
        layout(variants, "element type", KvFormat.KEY_VALUE, ElementType.BF16, 4, 2, 8, 2);
        layout(variants, "layers", KvFormat.KEY_VALUE, ElementType.F16, 5, 2, 8, 2);
        layout(variants, "heads", KvFormat.KEY_VALUE, ElementType.F16, 4, 3, 8, 2);
        layout(variants, "head size", KvFormat.KEY_VALUE, ElementType.F16, 4, 2, 9, 2);
        layout(variants, "groups", KvFormat.KEY_VALUE, ElementType.F16, 4, 2, 8, 3);
        Map<String, String> tags = SPACE.tags();
        variants.put("rank", new KeySpace(i, 2, 0, -1, "tenant", tags));
        variants.put("object group", new KeySpace(i, 1, 1, -1, "tenant", tags));
        variants.put("layer", new KeySpace(i, 1, 0, 0, "tenant", tags));
        variants.put("another layer", new KeySpace(i, 1, 0, 1, "tenant", tags));
        variants.put("salt", new KeySpace(i, 1, 0, -1, "tenant2", tags));
        variants.put("no salt", new KeySpace(i, 1, 0, -1, "", tags));
        variants.put("tag value", new KeySpace(i, 1, 0, -1, "tenant", Map.of("name", "value2")));
        variants.put("tag name", new KeySpace(i, 1, 0, -1, "tenant", Map.of("name2", "value")));
        variants.put("more tags", new KeySpace(i, 1, 0, -1, "tenant", Map.of("name", "value", "name2", "")));
        variants.put("no tags", new KeySpace(i, 1, 0, -1, "tenant", Map.of()));
        variants.put("shifted text", new KeySpace(i, 1, 0, -1, "tenantn", Map.of("ame", "value")));
        return variants;
    }

    private static void identity(
            Map<String, KeySpace> variants,
            String field,
            String model,
            String revision,
            String adapter,
            String scheme,
            int hashBytes,
            int chunkTokens,
            KvLayout layout,
            int worldSize) {
        CacheIdentity identity =
                new CacheIdentity(model, revision, adapter, scheme, hashBytes, chunkTokens, layout, worldSize);
        variants.put(field, new KeySpace(identity, 1, 0, KeySpace.ALL_LAYERS, "tenant", SPACE.tags()));
    }

    private static void layout(
            Map<String, KeySpace> variants,
            String field,
            KvFormat format,
            ElementType type,
            int layers,
            int heads,
            int headSize,
            int groups) {
        KvLayout layout = new KvLayout(format, type, layers, heads, headSize, groups);
        identity(variants, field, "model", "revision", "adapter", "sha256-chain-1", 32, 4, layout, 4);
    }
}
