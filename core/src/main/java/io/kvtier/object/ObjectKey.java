package io.kvtier.object;

import java.util.Objects;

/**
 * The key of one object: two keys are equal if and only if every part of the key space and the chunk hash are.
 *
 * @param space all parts but the hash
 * @param chunkHash hash of the chunk and its prefix, as long as the identity says
 */
public record ObjectKey(KeySpace space, ChunkHash chunkHash) {
    /**
     * Checks the hash's length.
     *
     * @throws IllegalArgumentException if it is not the identity's
     */
    public ObjectKey {
        Objects.requireNonNull(space, "space");
        int expected = space.identity().hashBytes();
        if (chunkHash.length() != expected) {
            throw new IllegalArgumentException("hash scheme " + space.identity().hashScheme() + " has " + expected
                    + " bytes, got a chunk hash of " + chunkHash.length());
        }
    }
}
