package io.kvtier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.kvtier.layout.KvLayout;
import io.kvtier.policy.EvictionPolicy;
import io.kvtier.tier.FileTierConfig;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class KvCacheConfigTest {
    private static final Path FOLDER = Path.of("unused");

    static Stream<Arguments> wrongSettings() {
        return Stream.of(
                wrong(b -> b.chunkTokens(0), "chunkTokens", "0"),
                wrong(b -> b.chunkTokens(-3), "chunkTokens", "-3"),
                wrong(b -> b.chunkTokens((1 << 20) + 1), "chunkTokens", "1048577"),
                wrong(b -> b.rank(0, 0), "worldSize", "0"),
                wrong(b -> b.rank(0, -2), "worldSize", "-2"),
                wrong(b -> b.rank(0, (1 << 20) + 1), "worldSize", "1048577"),
                wrong(b -> b.rank(2, 2), "rank", "2"),
                wrong(b -> b.rank(-1, 2), "rank", "-1"),
                wrong(b -> b.memoryBytes(0), "memoryBytes", "got 0"),
                wrong(b -> b.memoryBytes(-9), "memoryBytes", "-9"),
                wrong(b -> b.memoryBytes(191), "memoryBytes", "192", "191"),
                wrong(b -> b.modelRevision("a\0b"), "modelRevision", "NUL"),
                wrong(b -> b.adapterName("\uD800"), "adapterName", "surrogate"),
                wrong(b -> b.modelRevision("x".repeat(4000)), "3072", "4019"),
                wrong(KvCacheConfigTest::tooManyTiers, "64", "65"));
    }

    @ParameterizedTest
    @MethodSource("wrongSettings")
    void wrongSettingIsRefusedWithItsValue(UnaryOperator<KvCacheConfig.Builder> change, List<String> parts) {
        KvCacheConfig.Builder builder = change.apply(valid());
        assertThatIllegalArgumentException()
                .isThrownBy(builder::build)
                .satisfies(e -> assertThat(e.getMessage()).contains(parts));
    }

    @Test
    void modelNeedsAName() {
        assertThatIllegalArgumentException()
                .isThrownBy(KvCacheConfig.builder("").layout(KvLayout.opaque(1))::build)
                .withMessageContaining("modelName");
    }

    @Test
    void cacheNeedsALayout() {
        assertThatIllegalArgumentException()
                .isThrownBy(KvCacheConfig.builder("m")::build)
                .withMessageContaining("layout");
    }

    @Test
    void tierSettingsAreRefusedWithTheirValue() {
        FileTierConfig tier = FileTierConfig.in(FOLDER);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> tier.withMaxBytes(0))
                .withMessageContaining("maxBytes")
                .withMessageContaining("0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> tier.withMaxObjects(-4))
                .withMessageContaining("maxObjects")
                .withMessageContaining("-4");
    }

    @Test
    void nullsAreRefusedAtOnce() {
        KvCacheConfig.Builder builder = valid();
        assertThatNullPointerException().isThrownBy(() -> builder.modelRevision(null));
        assertThatNullPointerException().isThrownBy(() -> builder.adapterName(null));
        assertThatNullPointerException().isThrownBy(() -> builder.layout(null));
        assertThatNullPointerException().isThrownBy(() -> builder.memoryPolicy(null));
        assertThatNullPointerException().isThrownBy(() -> builder.tier(null));
        assertThatNullPointerException().isThrownBy(() -> KvCacheConfig.builder(null));
        assertThatNullPointerException().isThrownBy(() -> RequestScope.ofSalt(null));
    }

    @Test
    void settingsArriveWhereTheyBelong() {
        FileTierConfig tier =
                FileTierConfig.in(FOLDER).withMaxBytes(7).withMaxObjects(8).withPolicy(EvictionPolicy.Kind.FIFO);
        KvCacheConfig config = valid().modelRevision("r")
                .adapterName("a")
                .rank(1, 3)
                .memoryPolicy(EvictionPolicy.Kind.FIFO)
                .tier(tier)
                .verifyMemory(true)
                .build();
        assertThat(config.identity().modelName()).isEqualTo("model");
        assertThat(config.identity().modelRevision()).isEqualTo("r");
        assertThat(config.identity().adapterName()).isEqualTo("a");
        assertThat(config.identity().worldSize()).isEqualTo(3);
        assertThat(config.rank()).isEqualTo(1);
        assertThat(config.storage().memoryPolicy()).isEqualTo(EvictionPolicy.Kind.FIFO);
        assertThat(config.storage().tiers()).containsExactly(tier);
        assertThat(config.verifyMemory()).isTrue();
    }

    @Test
    void defaultsAreAsDocumented() {
        KvCacheConfig config =
                KvCacheConfig.builder("m").layout(KvLayout.opaque(1024)).build();
        assertThat(config.identity().chunkTokens()).isEqualTo(256);
        assertThat(config.storage().memoryObjects()).isEqualTo(1 << 12);
        assertThat(config.storage().memoryPolicy()).isEqualTo(EvictionPolicy.Kind.LRU);
        assertThat(config.storage().tiers()).isEmpty();
        assertThat(config.rank()).isZero();
        assertThat(config.identity().worldSize()).isEqualTo(1);
        assertThat(config.verifyMemory()).isFalse();
    }

    @Test
    void scopeCopiesItsTags() {
        Map<String, String> tags = new java.util.HashMap<>(Map.of("a", "b"));
        RequestScope scope = new RequestScope("s", tags);
        tags.put("c", "d");
        assertThat(scope.tags()).containsExactly(Map.entry("a", "b"));
    }

    private static KvCacheConfig.Builder valid() {
        return KvCacheConfig.builder("model")
                .layout(KvLayout.opaque(12))
                .chunkTokens(16)
                .memoryBytes(192);
    }

    private static KvCacheConfig.Builder tooManyTiers(KvCacheConfig.Builder builder) {
        for (int i = 0; i < 65; i++) {
            builder.tier(FileTierConfig.in(FOLDER));
        }
        return builder;
    }

    private static Arguments wrong(UnaryOperator<KvCacheConfig.Builder> change, String... parts) {
        return Arguments.of(change, List.of(parts));
    }
}
