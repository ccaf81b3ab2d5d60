package io.kvtier.store;

import io.kvtier.layout.KvLayout;
import io.kvtier.object.CacheIdentity;
import io.kvtier.object.ChunkHash;
import io.kvtier.object.KeySpace;
import io.kvtier.object.KeySpaces;
import io.kvtier.object.ObjectKeys;
import io.kvtier.policy.EvictionPolicy;
import io.kvtier.tier.FileTierConfig;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;

/** Objects by number: key and bytes follow from it. */
final class StoreFixture {
    static final int BYTES = 100;

    private static final CacheIdentity IDENTITY =
            new CacheIdentity("model", "", "", "numbers", 8, 1, KvLayout.opaque(BYTES), 1);

    private StoreFixture() {}

    static ObjectKeys keys(KeySpaces spaces, int... numbers) {
        ObjectKeys keys = spaces.keys(KeySpace.of(IDENTITY, 0, ""));
        for (int number : numbers) {
            keys.add(ChunkHash.of(
                    ByteBuffer.allocate(8).putLong(number * 0x9E3779B97F4A7C15L).array()));
        }
        return keys;
    }

    static MemorySegment bytes(int number) {
        MemorySegment bytes = MemorySegment.ofArray(new byte[BYTES]);
        fill(bytes, number);
        return bytes;
    }

    static void fill(MemorySegment object, int number) {
        for (long at = 0; at < object.byteSize(); at++) {
            object.set(ValueLayout.JAVA_BYTE, at, (byte) (number * 31 + at));
        }
    }

    static boolean holds(MemorySegment object, int number) {
        return object.mismatch(bytes(number)) < 0;
    }

    static ObjectWriter writer(int number) {
        return object -> fill(object, number);
    }

    static StorageConfig config(int memoryObjects, FileTierConfig... tiers) {
        return new StorageConfig(BYTES, memoryObjects, EvictionPolicy.Kind.LRU, List.of(tiers));
    }

    static FileTierConfig tier(Path folder, int objects) {
        return FileTierConfig.in(folder).withMaxObjects(objects);
    }
}
