package io.kvtier.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.kvtier.layout.ElementType;
import io.kvtier.layout.KvFormat;
import io.kvtier.layout.KvLayout;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.Size;

class KeySpaceEncodingPropertyTest {
    @Property(tries = 500)
    void comesBackAsItWas(@ForAll("spaces") KeySpace space) {
        byte[] bytes = KeySpaceEncoding.encode(space);
        assertThat(bytes).hasSizeLessThanOrEqualTo(KeySpaceEncoding.MAX_BYTES);
        assertThat(KeySpaceEncoding.decode(bytes)).contains(space);
    }

    @Property(tries = 200)
    void unequalSpacesHaveUnequalBytes(@ForAll("spaces") KeySpace a, @ForAll("spaces") KeySpace b) {
        assertThat(Arrays.equals(KeySpaceEncoding.encode(a), KeySpaceEncoding.encode(b)))
                .isEqualTo(a.equals(b));
    }

    @Property(tries = 40)
    void noChangedByteIsTakenForTheSame(@ForAll("spaces") KeySpace space, @ForAll byte change) {
        byte[] bytes = KeySpaceEncoding.encode(space);
        for (int i = 0; i < bytes.length; i++) {
            byte[] changed = bytes.clone();
            changed[i] ^= change == 0 ? 1 : change;
            assertNotTakenForTheSame(changed, space);
        }
    }

    @Property(tries = 25)
    void neitherShorterNorLongerIsTakenForTheSame(@ForAll("spaces") KeySpace space) {
        byte[] bytes = KeySpaceEncoding.encode(space);
        for (int length = 0; length < bytes.length; length++) {
            assertThat(KeySpaceEncoding.decode(Arrays.copyOf(bytes, length))).isEmpty();
        }
        assertThat(KeySpaceEncoding.decode(Arrays.copyOf(bytes, bytes.length + 1)))
                .isEmpty();
    }

    @Property(tries = 1000)
    void bytesOfAnythingElseNeverThrow(@ForAll @Size(max = 300) byte[] bytes) {
        assertThatCode(() -> KeySpaceEncoding.decode(bytes)).doesNotThrowAnyException();
        byte[] begun = KeySpaceEncoding.encode(SampleKeys.SPACE);
        System.arraycopy(bytes, 0, begun, 1, Math.min(bytes.length, begun.length - 1));
        assertThatCode(() -> KeySpaceEncoding.decode(begun)).doesNotThrowAnyException();
    }

    private static void assertNotTakenForTheSame(byte[] changed, KeySpace space) {
        Optional<KeySpace> decoded = KeySpaceEncoding.decode(changed);
        assertThat(decoded).isNotEqualTo(Optional.of(space));
        decoded.ifPresent(other -> assertThat(KeySpaceEncoding.encode(other)).isEqualTo(changed));
    }

    @Provide
    Arbitrary<KeySpace> spaces() {
        return Combinators.combine(identities(), texts(), tags(), Arbitraries.longs())
                .as((identity, salt, tags, numbers) -> space(identity, salt, tags, numbers));
    }

    private static KeySpace space(CacheIdentity identity, String salt, Map<String, String> tags, long numbers) {
        int rank = (int) Math.floorMod(numbers, (long) identity.worldSize());
        int group = (int) Math.floorMod(numbers >> 8, (long) identity.layout().groups());
        int layer = (int) Math.floorMod(numbers >> 16, identity.layout().layers() + 1L) - 1;
        return new KeySpace(identity, rank, group, layer, salt, tags);
    }

    private static Arbitrary<CacheIdentity> identities() {
        return Combinators.combine(
                        texts().filter(text -> !text.isEmpty()),
                        texts(),
                        texts(),
                        texts().filter(text -> !text.isEmpty()),
                        Arbitraries.integers().between(1, 32),
                        Arbitraries.integers().between(1, 1 << 20),
                        layouts(),
                        Arbitraries.integers().between(1, 1 << 20))
                .as(CacheIdentity::new);
    }

    private static Arbitrary<KvLayout> layouts() {
        Arbitrary<Integer> dimensions = Arbitraries.integers().between(1, 200);
        return Combinators.combine(
                        Arbitraries.of(KvFormat.class),
                        Arbitraries.of(ElementType.class),
                        dimensions,
                        dimensions,
                        dimensions,
                        dimensions)
                .as(KvLayout::new);
    }

    private static Arbitrary<Map<String, String>> tags() {
        return Arbitraries.maps(texts().filter(text -> !text.isEmpty()), texts())
                .ofMaxSize(8);
    }

    /** Text of any Unicode characters but NUL and surrogates, which no key may have. */
    private static Arbitrary<String> texts() {
        Arbitrary<Integer> characters = Arbitraries.oneOf(
                Arbitraries.integers().between(1, 0x7F),
                Arbitraries.integers().between(0x80, 0xD7FF),
                Arbitraries.integers().between(0xE000, Character.MAX_CODE_POINT));
        return characters.list().ofMaxSize(20).map(list -> {
            StringBuilder text = new StringBuilder();
            list.forEach(text::appendCodePoint);
            return text.toString();
        });
    }
}
