package io.kvtier.llama;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * A byte-pair tokenizer of llama2.c. Characters that have no token of their own become the tokens of their UTF-8 bytes,
 * so every text has tokens, and decoding them gives the text back. Immutable.
 *
 * @see <a href="https://github.com/karpathy/llama2.c">llama2.c</a>
 */
public final class Tokenizer {
    /** The token that every sequence begins with; stories260K also ends a story with it. */
    public static final int START = Vocabulary.START;

    /** The token that ends a sequence. */
    public static final int END = Vocabulary.END;

    private static final int BUNDLED_VOCABULARY = 512;

    private final Vocabulary vocabulary;

    private Tokenizer(Vocabulary vocabulary) {
        this.vocabulary = vocabulary;
    }

    /**
     * Reads a tokenizer file.
     *
     * @param vocabulary number of tokens in the file, which does not say it itself
     * @throws ModelFileException if the content does not follow the format or is not of exactly so many tokens
     * @throws IOException if the file cannot be read
     * @throws IllegalArgumentException if {@code vocabulary} is below 260: 3 marks, 256 bytes and the piece {@code " "}
     */
    public static Tokenizer read(Path path, int vocabulary) throws IOException {
        try (ModelFile file = ModelFile.open(path)) {
            return new Tokenizer(Vocabulary.read(file, vocabulary));
        }
    }

    /** Reads the tokenizer of stories260K that is part of this package. */
    public static Tokenizer bundled() {
        try (ModelFile file = ModelFile.bundled("tok512.bin")) {
            return new Tokenizer(Vocabulary.read(file, BUNDLED_VOCABULARY));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the number of tokens. */
    public int vocabulary() {
        return vocabulary.size();
    }

    /**
     * Returns the tokens of a text, {@link #START} before them; the empty text is {@link #START} alone.
     *
     * @throws IllegalArgumentException if the text has a surrogate without its partner
     */
    public int[] encode(String text) {
        if (text.isEmpty()) {
            return new int[] {START};
        }
        int[] merged = PairMerger.merge(vocabulary, characters(utf8(text)));
        int[] tokens = new int[merged.length + 1];
        tokens[0] = START;
        System.arraycopy(merged, 0, tokens, 1, merged.length);
        return tokens;
    }

    /**
     * Returns the text of tokens. Of the first piece after {@link #START} one leading space is dropped, which encoding
     * puts there; bytes that are not UTF-8 become U+FFFD.
     *
     * @throws IndexOutOfBoundsException if one is not in the vocabulary
     */
    public String decode(int... tokens) {
        TextStream stream = newTextStream();
        StringBuilder text = new StringBuilder();
        for (int token : tokens) {
            text.append(stream.append(token));
        }
        return text.append(stream.finish()).toString();
    }

    /** Returns a stream that decodes one sequence, token by token. */
    public TextStream newTextStream() {
        return new TextStream(vocabulary);
    }

    /** Returns the token of {@code " "}, then for each character its token or the tokens of its bytes. */
    private int[] characters(byte[] utf8) {
        int[] tokens = new int[utf8.length + 1];
        tokens[0] = vocabulary.space();
        int count = 1;
        for (int from = 0; from < utf8.length; ) {
            int end = from + characterBytes(utf8[from]);
            int token = vocabulary.find(utf8, from, end - from);
            if (token != Vocabulary.NONE) {
                tokens[count++] = token;
            } else {
                for (int i = from; i < end; i++) {
                    tokens[count++] = Vocabulary.FIRST_BYTE + Byte.toUnsignedInt(utf8[i]);
                }
            }
            from = end;
        }
        return Arrays.copyOf(tokens, count);
    }

    /** Returns how many bytes the UTF-8 character has that begins with this one. */
    private static int characterBytes(byte first) {
        int leadingOnes = Integer.numberOfLeadingZeros(~(first << 24));
        return Math.max(1, leadingOnes);
    }

    private static byte[] utf8(String text) {
        try {
            ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
            byte[] utf8 = new byte[encoded.remaining()];
            encoded.get(utf8);
            return utf8;
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException("text has a surrogate without its partner", e);
        }
    }
}
