package io.kvtier;

import static io.kvtier.PatternKv.CHUNK;
import static io.kvtier.PatternKv.OBJECT_BYTES;
import static io.kvtier.PatternKv.computed;
import static io.kvtier.PatternKv.config;
import static io.kvtier.PatternKv.prompt;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvtier.memory.Crc32c;
import io.kvtier.object.KeySpace;
import io.kvtier.object.KeySpaces;
import io.kvtier.object.ObjectKeys;
import io.kvtier.tier.FileTierConfig;
import io.kvtier.tier.TierAdapter;
import io.kvtier.tier.TierException;
import io.kvtier.tier.Tiers;
import io.kvtier.token.ChunkHasher;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A record that is whole but not as long as the chunk of its key is a miss, never an exception into the engine. */
class RecordLengthTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({"-1, 8, false", "1, 8, false", "1000, 8, false", "-1, 1, true", "1, 1, true"})
    void aRecordOfAnotherLengthEndsThePrefix(int difference, int memoryObjects, boolean memoryIsLeased)
            throws TierException {
        try (PatternKv kv = computed(prompt(2 * CHUNK, 1));
                PatternKv other = computed(prompt(CHUNK, 2))) {
            store(kv.tokens(), (int) OBJECT_BYTES + difference);
            try (KvCache cache = KvCache.open(config(memoryObjects, folder).build())) {
                other.store(cache);
                try (PrefixLease pinned = cache.lookup(memoryIsLeased ? other.tokens() : new int[0])) {
                    assertThat(pinned.chunks()).isEqualTo(memoryIsLeased ? 1 : 0);
                    assertThat(kv.retrieve(cache).tokens()).isZero();
                }
                assertThat(cache.status().memory().staged()).isZero();
                assertThat(cache.status().memory().leases()).isZero();
            }
        }
    }

    private void store(int[] tokens, int bytes) throws TierException {
        KeySpaces spaces = new KeySpaces();
        ObjectKeys keys = spaces.keys(KeySpace.of(config(1).build().identity(), 0, ""));
        new ChunkHasher(CHUNK).hash(tokens, tokens.length, 0, keys.resize(tokens.length / CHUNK));
        try (TierAdapter tier = Tiers.open(FileTierConfig.in(folder), spaces)) {
            for (int i = 0; i < keys.size(); i++) {
                MemorySegment payload = MemorySegment.ofArray(new byte[bytes]);
                tier.store(keys, i, payload, Crc32c.of(payload));
            }
        }
    }
}
