package io.kvtier;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvtier.layout.ElementType;
import io.kvtier.layout.KvLayout;
import io.kvtier.tier.FileTierConfig;
import io.kvtier.tier.TierException;
import io.kvtier.transfer.PagedKv;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compiles and runs the README's example, and keeps the README equal to it. */
class ReadmeExampleTest {
    @TempDir
    Path folder;

    // README example begins
    static int restoreOrCompute(KvCache cache, int[] prompt, PagedKv kv, int[] slotMapping) {
        int restored;
        try (PrefixLease hit = cache.lookup(prompt)) { // nothing of it is evicted until the lease is closed
            restored = cache.retrieve(hit, kv, slotMapping).tokens(); // one contiguous prefix
        }
        computeKv(prompt, restored, kv, slotMapping); // the engine's own work: the tokens that are missing
        cache.store(prompt, kv, slotMapping); // all full chunks, in memory and on disk
        return restored;
    }

    static KvCache open(Path folder) throws TierException {
        return KvCache.open(KvCacheConfig.builder("my-model")
                .layout(KvLayout.keyValue(ElementType.BF16, 32, 8, 128)) // layers, KV heads, head size
                .chunkTokens(256)
                .memoryBytes(256L << 20)
                .tier(FileTierConfig.in(folder).withMaxBytes(10L << 30))
                .build());
    }
    // README example ends

    private static void computeKv(int[] prompt, int from, PagedKv kv, int[] slotMapping) {
        for (int token = from; token < prompt.length; token++) {
            kv.plane(31, 1).setAtIndex(ValueLayout.JAVA_SHORT, slotMapping[token] * 1024L, (short) prompt[token]);
        }
    }

    @Test
    void exampleRestoresWhatItStored() throws TierException {
        int[] prompt = IntStream.range(0, 300).toArray();
        int[] slots = IntStream.range(0, 300).map(token -> 319 - token).toArray();
        try (Arena arena = Arena.ofConfined();
                KvCache cache = open(folder)) {
            PagedKv kv = PagedKv.allocate(cache.config().identity().layout(), 20, 16, arena);
            assertThat(restoreOrCompute(cache, prompt, kv, slots)).isZero();
            kv.plane(31, 1).fill((byte) 0);
            assertThat(restoreOrCompute(cache, prompt, kv, slots)).isEqualTo(256);
            assertThat(kv.plane(31, 1).getAtIndex(ValueLayout.JAVA_SHORT, slots[255] * 1024L))
                    .isEqualTo((short) 255);
        }
    }

    @Test
    void readmeShowsTheExampleAsItIs() throws IOException {
        String source = Files.readString(Path.of("src/test/java/io/kvtier/ReadmeExampleTest.java"));
        String example = source.substring(
                        source.indexOf("// README example begins\n") + "// README example begins\n".length(),
                        source.indexOf("    // README example ends"))
                .lines()
                .map(line -> line.isBlank() ? "" : line.substring(4))
                .collect(Collectors.joining("\n"));
        assertThat(Files.readString(Path.of("../README.md"))).contains("```java\n" + example + "\n```");
    }
}
