package io.kvtier.tier;

import io.kvtier.layout.KvLayout;
import io.kvtier.memory.Crc32c;
import io.kvtier.object.CacheIdentity;
import io.kvtier.object.ChunkHash;
import io.kvtier.object.KeySpace;
import io.kvtier.object.KeySpaces;
import io.kvtier.object.ObjectKeys;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.SplittableRandom;

/** Keys by small numbers, and contents that follow from them. */
public final class TestObjects {
    /** An identity in which every field has another value than the default or its neighbour. */
    public static final CacheIdentity IDENTITY =
            new CacheIdentity("model", "rev", "lora", "sha", 16, 64, KvLayout.opaque(128), 4);

    private static final int HASH_BYTES = 16;

    private TestObjects() {}

    /** Returns a key space of {@link #IDENTITY}. */
    public static KeySpace space(String salt) {
        return new KeySpace(IDENTITY, 1, 0, KeySpace.ALL_LAYERS, salt, Map.of("tag", "value"));
    }

    /** Returns the keys 0 to {@code count - 1} of a key space whose hashes have 16 bytes. */
    public static ObjectKeys keys(KeySpaces spaces, KeySpace space, int count) {
        ObjectKeys keys = spaces.keys(space);
        for (int number = 0; number < count; number++) {
            keys.add(ChunkHash.of(bytes(number, HASH_BYTES)));
        }
        return keys;
    }

    /** Returns so many bytes that follow from a number. */
    public static byte[] bytes(long number, int length) {
        byte[] bytes = new byte[length];
        new SplittableRandom(number).nextBytes(bytes);
        return bytes;
    }

    /** Returns {@link #bytes} as a segment. */
    public static MemorySegment content(long number, int length) {
        return MemorySegment.ofArray(bytes(number, length));
    }

    /** Stores {@link #content} of a key's number under it. */
    public static StoreOutcome store(TierAdapter tier, ObjectKeys keys, int number, int length) {
        return storeAs(tier, keys, number, number, length);
    }

    /** Stores {@link #content} of any number under a key. */
    public static StoreOutcome storeAs(TierAdapter tier, ObjectKeys keys, int i, long number, int length) {
        MemorySegment content = content(number, length);
        return tier.store(keys, i, content, Crc32c.of(content));
    }

    /** Loads an object and gives its lease back; null where it could not be leased or loaded. */
    public static byte @org.jspecify.annotations.Nullable [] load(TierAdapter tier, ObjectKeys keys, int number) {
        long lease = tier.lease(keys, number);
        if (lease == TierAdapter.NO_LEASE) {
            return null;
        }
        try {
            byte[] bytes = new byte[Math.toIntExact(tier.length(lease))];
            return tier.load(lease, MemorySegment.ofArray(bytes)) == LoadOutcome.LOADED ? bytes : null;
        } finally {
            tier.release(lease);
        }
    }

    /** Leases an object, loads it and returns the outcome. */
    public static LoadOutcome outcome(TierAdapter tier, ObjectKeys keys, int number) {
        long lease = tier.lease(keys, number);
        try {
            return tier.load(lease, MemorySegment.ofArray(new byte[Math.toIntExact(tier.length(lease))]));
        } finally {
            tier.release(lease);
        }
    }
}
