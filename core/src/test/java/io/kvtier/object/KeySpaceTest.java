package io.kvtier.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KeySpaceTest {
    @Test
    void eachFieldIsPartOfTheIdentity() {
        Set<KeySpace> all = new HashSet<>(SampleKeys.variants().values());
        all.add(SampleKeys.SPACE);
        assertThat(all).hasSize(SampleKeys.variants().size() + 1);
        Set<String> encoded = new HashSet<>();
        all.forEach(space -> encoded.add(java.util.HexFormat.of().formatHex(KeySpaceEncoding.encode(space))));
        assertThat(encoded).hasSize(all.size());
    }

    @Test
    void theOrderOfTagsDoesNotMatter() {
        Map<String, String> up = new LinkedHashMap<>();
        Map<String, String> down = new LinkedHashMap<>();
        List<String> names = List.of("a", "b", "é", "\uFFFD", "😀");
        names.forEach(name -> up.put(name, "1"));
        names.reversed().forEach(name -> down.put(name, "1"));
        assertThat(space("", up)).isEqualTo(space("", down)).hasSameHashCodeAs(space("", down));
        assertThat(KeySpaceEncoding.encode(space("", up))).isEqualTo(KeySpaceEncoding.encode(space("", down)));
    }

    @Test
    void tagNamesThatLookAlikeAreApart() {
        Map<String, String> tags = Map.of("a", "1", "A", "2", "\u00E9", "3", "e\u0301", "4");
        KeySpace space = space("", tags);
        assertThat(space.tags()).hasSize(4);
        assertThat(KeySpaceEncoding.decode(KeySpaceEncoding.encode(space))).contains(space);
        assertThat(space).isNotEqualTo(space("", Map.of("a", "2", "A", "1", "\u00E9", "3", "e\u0301", "4")));
    }

    @Test
    void tagsAreCopied() {
        Map<String, String> tags = new HashMap<>(Map.of("a", "1"));
        KeySpace space = space("", tags);
        tags.put("b", "2");
        assertThat(space.tags()).isEqualTo(Map.of("a", "1"));
        assertThatThrownBy(() -> space.tags().put("c", "3")).isInstanceOf(UnsupportedOperationException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"\uD83D", "\uDE00", "a\uDE00\uD83Db", "\uD83Dx"})
    void loneSurrogatesAreRefusedEverywhere(String text) {
        assertRefused("lone surrogate", text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"\0", "a\0", "a\0b"})
    void nulIsRefusedEverywhere(String text) {
        assertRefused("NUL", text);
    }

    @Test
    void aTagNameWithALoneSurrogateDoesNotBecomeAnother() {
        Map<String, String> tags = new LinkedHashMap<>();
        tags.put("?", "1");
        tags.put("\uD83D", "2");
        assertThatIllegalArgumentException().isThrownBy(() -> space("", tags)).withMessageContaining("surrogate");
    }

    @Test
    void numbersAreBoundByTheIdentity() {
        assertRefused("rank must be from 0 to worldSize - 1 = 3, got 4", () -> numbers(4, 0, 0));
        assertRefused("got -1", () -> numbers(-1, 0, 0));
        assertRefused("objectGroup must be from 0 to groups - 1 = 1, got 2", () -> numbers(0, 2, 0));
        assertRefused("layer must be from 0 to layers - 1 = 3, got 4", () -> numbers(0, 0, 4));
        assertRefused("got -2", () -> numbers(0, 0, -2));
        assertThat(numbers(3, 1, 3).layer()).isEqualTo(3);
    }

    @Test
    void textMayHaveSoManyBytesAndNoMore() {
        int others = "modelrevisionadaptersha256-chain-1".length();
        String longest = "x".repeat(KeySpace.MAX_TEXT_BYTES - others);
        assertThat(space(longest, Map.of()).salt()).isEqualTo(longest);
        assertRefused("got 3073", () -> space(longest + "x", Map.of()));
        assertRefused("got 3074", () -> space("é" + longest, Map.of()));
        assertRefused("got 3073", () -> space("", Map.of("x", longest)));
    }

    @Test
    void tagsNeedANameAndHaveALimit() {
        assertRefused("needs a name", () -> space("", Map.of("", "v")));
        Map<String, String> tags = new HashMap<>();
        for (int i = 0; i < KeySpace.MAX_TAGS; i++) {
            tags.put("t" + i, "");
        }
        assertThat(space("", tags).tags()).hasSize(64);
        tags.put("one more", "");
        assertRefused("at most 64 tags, got 65", () -> space("", tags));
    }

    @Test
    void aLayersObjectHasItsShareOfTheBytes() {
        assertThat(numbers(0, 0, 2).objectBytes() * 4)
                .isEqualTo(numbers(0, 0, KeySpace.ALL_LAYERS).objectBytes());
    }

    private static KeySpace space(String salt, Map<String, String> tags) {
        return new KeySpace(SampleKeys.IDENTITY, 0, 0, KeySpace.ALL_LAYERS, salt, tags);
    }

    private static KeySpace numbers(int rank, int group, int layer) {
        return new KeySpace(SampleKeys.IDENTITY, rank, group, layer, "", Map.of());
    }

    private static void assertRefused(String message, String text) {
        CacheIdentity i = SampleKeys.IDENTITY;
        assertRefused(message, () -> space(text, Map.of()));
        assertRefused(message, () -> space("", Map.of(text, "")));
        assertRefused(message, () -> space("", Map.of("a", text)));
        assertRefused(message, () -> ofIdentity(text, "", "", "s", i));
        assertRefused(message, () -> ofIdentity("m", text, "", "s", i));
        assertRefused(message, () -> ofIdentity("m", "", text, "s", i));
        assertRefused(message, () -> ofIdentity("m", "", "", text, i));
    }

    private static KeySpace ofIdentity(String model, String revision, String adapter, String scheme, CacheIdentity i) {
        return KeySpace.of(new CacheIdentity(model, revision, adapter, scheme, 32, 4, i.layout(), 1), 0, "");
    }

    private static void assertRefused(String message, Runnable creation) {
        assertThatIllegalArgumentException().isThrownBy(creation::run).withMessageContaining(message);
    }
}
