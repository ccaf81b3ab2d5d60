package io.kvtier.object;

import io.kvtier.layout.KvLayout;
import java.util.Objects;

/**
 * What all objects of one engine configuration have in common. KV that differs in any of these must never be mixed up,
 * so all of it is written out in full in every stored record.
 *
 * @param modelName name of the model, not empty
 * @param modelRevision revision of the weights; may be empty
 * @param adapterName name of the LoRA adapter; empty where there is none
 * @param hashScheme name of the scheme that made the chunk hashes
 * @param hashBytes length of a chunk hash, from 1 to 32
 * @param chunkTokens tokens per chunk
 * @param layout shape of the KV of one rank
 * @param worldSize number of ranks that the KV is split over
 */
public record CacheIdentity(
        String modelName,
        String modelRevision,
        String adapterName,
        String hashScheme,
        int hashBytes,
        int chunkTokens,
        KvLayout layout,
        int worldSize) {
    /** Longest chunk hash in bytes. */
    public static final int MAX_HASH_BYTES = 32;

    /**
     * Checks the fields.
     *
     * @throws IllegalArgumentException if a name that must not be empty is, or a number is out of range
     */
    public CacheIdentity {
        requireText("modelName", modelName);
        Objects.requireNonNull(modelRevision, "modelRevision");
        Objects.requireNonNull(adapterName, "adapterName");
        requireText("hashScheme", hashScheme);
        Objects.requireNonNull(layout, "layout");
        requireBetween("hashBytes", hashBytes, 1, MAX_HASH_BYTES);
        requireBetween("chunkTokens", chunkTokens, 1, 1 << 20);
        requireBetween("worldSize", worldSize, 1, 1 << 20);
    }

    /** Returns the bytes of a full chunk's object: what one rank holds of {@code chunkTokens} tokens. */
    public long objectBytes() {
        return layout.objectBytes(chunkTokens);
    }

    private static void requireText(String name, String value) {
        if (value.isEmpty()) {
            throw new IllegalArgumentException(name + " must not be empty");
        }
    }

    private static void requireBetween(String name, int value, int low, int high) {
        if (value < low || value > high) {
            throw new IllegalArgumentException(name + " must be from " + low + " to " + high + ", got " + value);
        }
    }
}
