package io.kvtier.llama;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * The tokens of a tokenizer file of llama2.c. Token 0 is the unknown token, 1 the start of a sequence, 2 its end, 3 to
 * 258 the byte values 0 to 255; pieces of text follow. Immutable.
 *
 * <p>The file is little endian: int32 length of the longest token, then for each token float32 score, int32 number of
 * bytes, and the bytes, which for byte values are the text {@code <0x00>} to {@code <0xFF>}. The number of tokens is
 * not in the file.
 */
final class Vocabulary {
    static final int NONE = -1;
    static final int START = 1;
    static final int END = 2;
    static final int FIRST_BYTE = 3;
    static final int FIRST_PIECE = FIRST_BYTE + 256;

    private static final int LEAST_TOKEN_BYTES = Float.BYTES + Integer.BYTES + 1;

    private final byte[][] bytes;
    private final float[] scores;
    /** Tokens of the pieces by their bytes, one char a byte. */
    private final Map<String, Integer> pieces = new HashMap<>();

    private Vocabulary(byte[][] bytes, float[] scores) {
        this.bytes = bytes;
        this.scores = scores;
        for (int token = FIRST_PIECE; token < bytes.length; token++) {
            pieces.putIfAbsent(key(bytes[token], 0, bytes[token].length), token);
        }
    }

    /**
     * Reads a tokenizer file.
     *
     * @param size number of tokens in the file
     * @throws IllegalArgumentException if {@code size} leaves no place for pieces
     * @throws ModelFileException if the content does not follow the format or is not of exactly so many tokens
     */
    static Vocabulary read(ModelFile file, int size) throws IOException {
        if (size <= FIRST_PIECE) {
            throw new IllegalArgumentException("vocabulary must be above " + FIRST_PIECE + ", got " + size);
        }
        file.requireRemaining(Integer.BYTES + (long) size * LEAST_TOKEN_BYTES);
        int longest = file.readInt();
        if (longest < 1) {
            throw new ModelFileException(
                    file.name(), "longest token must have at least 1 byte, has " + longest + " by the header");
        }
        byte[][] bytes = new byte[size][];
        float[] scores = new float[size];
        for (int token = 0; token < size; token++) {
            scores[token] = readScore(file, token);
            bytes[token] = readText(file, token, longest);
        }
        requireEnd(file, size);
        requireLongest(file, longest, bytes);
        replaceTexts(file, bytes);
        Vocabulary vocabulary = new Vocabulary(bytes, scores);
        if (vocabulary.space() == NONE) {
            throw new ModelFileException(file.name(), "the piece \" \" is missing, which texts begin with");
        }
        return vocabulary;
    }

    /** Returns the number of tokens. */
    int size() {
        return bytes.length;
    }

    /**
     * Returns what a token adds to a text: nothing for the start and the end. The array is not to be changed.
     *
     * @throws IndexOutOfBoundsException if there is no such token
     */
    byte[] bytes(int token) {
        if (token < 0 || token >= bytes.length) {
            throw new IndexOutOfBoundsException(
                    "token " + token + " is not in the vocabulary of " + bytes.length + " tokens");
        }
        return bytes[token];
    }

    /** Returns the score of a token: of pairs, the one whose joined piece has the highest score is joined first. */
    float score(int token) {
        return scores[token];
    }

    /** Returns the token of the piece {@code " "}. */
    int space() {
        return find(new byte[] {' '}, 0, 1);
    }

    /** Returns the token of a piece, or {@link #NONE} if there is no such piece. */
    int find(byte[] utf8, int from, int length) {
        return pieces.getOrDefault(key(utf8, from, length), NONE);
    }

    /** Returns the token whose piece is the joined text of two pieces, or {@link #NONE}; bytes are never joined. */
    int join(int left, int right) {
        if (left < FIRST_PIECE || right < FIRST_PIECE) {
            return NONE;
        }
        byte[] joined = Arrays.copyOf(bytes[left], bytes[left].length + bytes[right].length);
        System.arraycopy(bytes[right], 0, joined, bytes[left].length, bytes[right].length);
        return find(joined, 0, joined.length);
    }

    private static float readScore(ModelFile file, int token) throws IOException {
        float score = file.readFloat();
        if (Float.isNaN(score)) {
            throw new ModelFileException(file.name(), "score of token " + token + " is not a number");
        }
        // Makes -0 equal to 0 in every comparison.
        return score + 0.0f;
    }

    private static byte[] readText(ModelFile file, int token, int longest) throws IOException {
        int length = file.readInt();
        if (length < 1 || length > longest) {
            throw new ModelFileException(
                    file.name(), "length of token " + token + " must be within 1.." + longest + " bytes, is " + length);
        }
        return file.readBytes(length);
    }

    private static void requireEnd(ModelFile file, int size) throws ModelFileException {
        if (file.position() != file.size()) {
            throw new ModelFileException(
                    file.name(),
                    "must have " + file.position() + " bytes for its " + size + " tokens, has " + file.size());
        }
    }

    private static void requireLongest(ModelFile file, int longest, byte[][] texts) throws ModelFileException {
        int found = 0;
        for (byte[] text : texts) {
            found = Math.max(found, text.length);
        }
        if (found != longest) {
            throw new ModelFileException(
                    file.name(), "longest token must have " + longest + " bytes by the header, has " + found);
        }
    }

    /** Replaces what the file has for the start, the end and the byte values by what they stand for. */
    private static void replaceTexts(ModelFile file, byte[][] texts) throws ModelFileException {
        texts[START] = new byte[0];
        texts[END] = new byte[0];
        for (int value = 0; value < 256; value++) {
            int token = FIRST_BYTE + value;
            String expected = "<0x%02X>".formatted(value);
            String found = new String(texts[token], StandardCharsets.UTF_8);
            if (!found.equals(expected)) {
                throw new ModelFileException(
                        file.name(), "token " + token + " must be \"" + expected + "\", is \"" + found + "\"");
            }
            texts[token] = new byte[] {(byte) value};
        }
    }

    private static String key(byte[] bytes, int from, int length) {
        return new String(bytes, from, length, StandardCharsets.ISO_8859_1);
    }
}
