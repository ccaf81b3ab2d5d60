package io.kvtier.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

class CacheIdentityTest {
    @Test
    void objectBytesAreThoseOfAFullChunk() {
        assertThat(SampleKeys.IDENTITY.objectBytes()).isEqualTo(2L * 4 * 4 * 2 * 8 * 2);
    }

    @Test
    void revisionAndAdapterMayBeEmpty() {
        assertThat(identity("m", "", "", "s", 1, 1, 1).modelRevision()).isEmpty();
    }

    @Test
    void namesThatMustNotBeEmptyAreRefused() {
        assertRefused("modelName", () -> identity("", "", "", "s", 1, 1, 1));
        assertRefused("hashScheme", () -> identity("m", "", "", "", 1, 1, 1));
    }

    @Test
    void numbersOutOfRangeAreRefused() {
        assertRefused("hashBytes must be from 1 to 32, got 0", () -> identity("m", "", "", "s", 0, 1, 1));
        assertRefused("hashBytes must be from 1 to 32, got 33", () -> identity("m", "", "", "s", 33, 1, 1));
        assertRefused("chunkTokens must be from 1 to 1048576, got 0", () -> identity("m", "", "", "s", 1, 0, 1));
        assertRefused("got 1048577", () -> identity("m", "", "", "s", 1, 1048577, 1));
        assertRefused("worldSize must be from 1 to 1048576, got -1", () -> identity("m", "", "", "s", 1, 1, -1));
    }

    private static CacheIdentity identity(
            String model, String revision, String adapter, String scheme, int hashBytes, int chunkTokens, int world) {
        return new CacheIdentity(model, revision, adapter, scheme, hashBytes, chunkTokens, SampleKeys.LAYOUT, world);
    }

    private static void assertRefused(String message, Runnable creation) {
        assertThatIllegalArgumentException().isThrownBy(creation::run).withMessageContaining(message);
    }
}
