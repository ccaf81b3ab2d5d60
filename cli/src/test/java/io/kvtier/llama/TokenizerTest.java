package io.kvtier.llama;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.AlphaChars;
import net.jqwik.api.constraints.CharRange;
import net.jqwik.api.constraints.StringLength;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

final class TokenizerTest {
    private static final Tokenizer TOKENIZER = Tokenizer.bundled();
    private static final String PROMPT = "Once upon a time, there was a little girl named Lily. She loved to play"
            + " outside in the park with her red ball and her dog.";

    @Test
    void emptyTextIsTheStartAlone() {
        assertThat(TOKENIZER.encode("")).containsExactly(1);
        assertThat(TOKENIZER.decode(1)).isEmpty();
        assertThat(TOKENIZER.decode()).isEmpty();
    }

    @Test
    void referenceTokensDecodeToTheReferenceText() {
        assertThat(TOKENIZER.decode(Reference.ids())).isEqualTo(Reference.text());
    }

    @Test
    void referenceTextEncodesToTheReferenceTokens() {
        assertThat(TOKENIZER.encode(Reference.text())).isEqualTo(Reference.ids());
    }

    @Test
    void promptOfAStoryBeginsLikeTheReference() {
        assertThat(TOKENIZER.encode(PROMPT)).hasSize(42).startsWith(Arrays.copyOf(Reference.ids(), 26));
    }

    @Test
    void charactersWithoutTokenBecomeBytes() {
        assertThat(TOKENIZER.encode("\n")).containsExactly(1, 410, 3 + '\n');
        assertThat(TOKENIZER.encode("€")).hasSize(3);
        assertThat(TOKENIZER.encode("😀")).containsExactly(1, 410, 3 + 0xF0, 3 + 0x9F, 3 + 0x98, 3 + 0x80);
    }

    @Test
    void namesOfBytesAndMarksAreText() {
        for (String text : List.of("<0x41>", "<unk>", "<s>", "\n<s>\n", "</s>", "\n</s>\n", " ", "  a", "\u0000")) {
            assertThat(TOKENIZER.decode(TOKENIZER.encode(text))).isEqualTo(text);
        }
    }

    @Property
    void asciiSurvives(@ForAll @CharRange(from = 0, to = 127) @StringLength(max = 60) String text) {
        assertRoundTrip(text);
    }

    @Property
    void everyTextSurvives(@ForAll("texts") String text) {
        assertRoundTrip(text);
    }

    @Property
    void mergesAsTheDefinitionSays(
            @ForAll @AlphaChars @CharRange(from = ' ', to = ' ') @StringLength(max = 40) String text) {
        assertThat(TOKENIZER.encode(text)).isEqualTo(encodeByDefinition(text));
    }

    @Property
    void mergesRepetitionsAsTheDefinitionSays(@ForAll("storyWords") List<String> words) {
        String text = String.join(" ", words);
        assertThat(TOKENIZER.encode(text)).isEqualTo(encodeByDefinition(text));
    }

    @Test
    @Timeout(60)
    void longTextIsQuicklyEncoded() {
        String text = PROMPT.repeat(10_000);
        int[] tokens = TOKENIZER.encode(text);
        assertThat(TOKENIZER.decode(tokens)).isEqualTo(text);
    }

    @Test
    void refusesLoneSurrogates() {
        for (String text : List.of("\ud83d", "a\ude00", "\ude00\ud83d")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> TOKENIZER.encode(text))
                    .withMessage("text has a surrogate without its partner");
        }
    }

    @Test
    void refusesUnknownTokens() {
        for (int token : new int[] {-1, 512}) {
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> TOKENIZER.decode(1, token))
                    .withMessage("token " + token + " is not in the vocabulary of 512 tokens");
        }
    }

    @Provide
    static Arbitrary<String> texts() {
        Arbitrary<Integer> codePoints = Arbitraries.oneOf(
                        Arbitraries.integers().between(0, Character.MAX_CODE_POINT),
                        Arbitraries.integers().between(0, 0x2fff),
                        Arbitraries.integers().between(' ', '~'))
                .filter(c -> c < Character.MIN_SURROGATE || c > Character.MAX_SURROGATE);
        return codePoints
                .list()
                .ofMaxSize(40)
                .map(list -> list.stream()
                        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                        .toString());
    }

    @Provide
    static Arbitrary<List<String>> storyWords() {
        return Arbitraries.of("Once", "upon", "a", "time,", "theerererer", "Timmy", "ninginging", "", "heed", "“é”\n")
                .list()
                .ofMaxSize(12);
    }

    private static void assertRoundTrip(String text) {
        int[] tokens = TOKENIZER.encode(text);
        assertThat(tokens[0]).isEqualTo(Tokenizer.START);
        assertThat(TOKENIZER.decode(tokens)).isEqualTo(text);
        TextStream stream = TOKENIZER.newTextStream();
        StringBuilder streamed = new StringBuilder();
        for (int token : tokens) {
            streamed.append(stream.append(token));
            assertThat(text).startsWith(streamed);
        }
        assertThat(stream.finish()).isEmpty();
        assertThat(streamed).hasToString(text);
    }

    /** Joins the best pair, looking at all of them each time. */
    private static int[] encodeByDefinition(String text) {
        Vocabulary vocabulary = vocabulary();
        List<Integer> tokens = new ArrayList<>();
        if (!text.isEmpty()) {
            (" " + text).codePoints().forEach(c -> tokens.addAll(tokensOf(vocabulary, Character.toString(c))));
        }
        for (int best = bestPair(vocabulary, tokens); best >= 0; best = bestPair(vocabulary, tokens)) {
            tokens.set(best, vocabulary.join(tokens.get(best), tokens.remove(best + 1)));
        }
        tokens.addFirst(Tokenizer.START);
        return tokens.stream().mapToInt(Integer::intValue).toArray();
    }

    private static int bestPair(Vocabulary vocabulary, List<Integer> tokens) {
        int best = -1;
        float bestScore = Float.NEGATIVE_INFINITY;
        for (int i = 0; i + 1 < tokens.size(); i++) {
            int joined = vocabulary.join(tokens.get(i), tokens.get(i + 1));
            if (joined != Vocabulary.NONE && vocabulary.score(joined) > bestScore) {
                best = i;
                bestScore = vocabulary.score(joined);
            }
        }
        return best;
    }

    private static List<Integer> tokensOf(Vocabulary vocabulary, String character) {
        byte[] utf8 = character.getBytes(StandardCharsets.UTF_8);
        int token = vocabulary.find(utf8, 0, utf8.length);
        if (token != Vocabulary.NONE) {
            return List.of(token);
        }
        List<Integer> bytes = new ArrayList<>();
        for (byte b : utf8) {
            bytes.add(Vocabulary.FIRST_BYTE + Byte.toUnsignedInt(b));
        }
        return bytes;
    }

    private static Vocabulary vocabulary() {
        try (ModelFile file = ModelFile.bundled("tok512.bin")) {
            return Vocabulary.read(file, 512);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
