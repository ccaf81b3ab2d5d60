package io.kvtier.issues;

import io.kvtier.layout.KvLayout;
import io.kvtier.object.CacheIdentity;
import io.kvtier.object.ChunkHash;
import io.kvtier.object.KeySpace;
import io.kvtier.object.ObjectKeys;
import io.kvtier.policy.EvictionPolicy;
import io.kvtier.store.ObjectWriter;
import io.kvtier.store.StorageConfig;
import io.kvtier.store.StorageManager;
import io.kvtier.tier.FileTierConfig;
import io.kvtier.tier.StoreOutcome;
import io.kvtier.tier.TierException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;

/** Numbered objects of 64 bytes, each filled with its number. */
final class NumberedObjects {
    static final int BYTES = 64;

    private static final CacheIdentity IDENTITY =
            new CacheIdentity("model", "", "", "numbers", 4, 1, KvLayout.opaque(BYTES), 1);

    private NumberedObjects() {}

    static StorageManager open(int memoryObjects, FileTierConfig... tiers) throws TierException {
        return StorageManager.open(new StorageConfig(BYTES, memoryObjects, EvictionPolicy.Kind.LRU, List.of(tiers)));
    }

    static ObjectKeys keys(StorageManager manager, int... numbers) {
        return keys(manager, "", numbers);
    }

    static ObjectKeys keys(StorageManager manager, String salt, int... numbers) {
        ObjectKeys keys = manager.keySpaces().keys(KeySpace.of(IDENTITY, 0, salt));
        for (int number : numbers) {
            keys.add(ChunkHash.of(ByteBuffer.allocate(4).putInt(number).array()));
        }
        return keys;
    }

    static ObjectWriter writer(int number) {
        return object -> object.fill((byte) number);
    }

    static StoreOutcome store(StorageManager manager, int number) {
        return manager.store(keys(manager, number), 0, BYTES, writer(number));
    }

    static boolean holds(MemorySegment object, int number) {
        byte[] expected = new byte[BYTES];
        java.util.Arrays.fill(expected, (byte) number);
        return object.mismatch(MemorySegment.ofArray(expected)) < 0;
    }

    static MemorySegment buffer() {
        return MemorySegment.ofArray(new byte[BYTES]);
    }
}
