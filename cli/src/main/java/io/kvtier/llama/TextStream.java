package io.kvtier.llama;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/**
 * The text of a sequence, as its tokens come. A character whose UTF-8 bytes are spread over several tokens comes out
 * with the last of them. Not thread-safe.
 */
public final class TextStream {
    private static final int MAX_CHARACTER_BYTES = 4;

    private final Vocabulary vocabulary;
    private final CharsetDecoder decoder = StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPLACE)
            .onUnmappableCharacter(CodingErrorAction.REPLACE);

    /** The bytes of a character that is not complete yet. */
    private ByteBuffer pending = ByteBuffer.allocate(0);

    private boolean afterStart;

    TextStream(Vocabulary vocabulary) {
        this.vocabulary = vocabulary;
    }

    /**
     * Takes the next token and returns the text that became complete with it, which may be empty. {@link
     * Tokenizer#START} and {@link Tokenizer#END} have no text; of the piece that follows the start, one leading space
     * is dropped. Bytes that are not UTF-8 become U+FFFD.
     *
     * @throws IndexOutOfBoundsException if the token is not in the vocabulary
     */
    public String append(int token) {
        byte[] bytes = vocabulary.bytes(token);
        if (bytes.length == 0) {
            afterStart = token == Tokenizer.START;
            return finish();
        }
        int from = afterStart && bytes[0] == ' ' ? 1 : 0;
        afterStart = false;
        ByteBuffer input = ByteBuffer.allocate(pending.remaining() + bytes.length - from);
        input.put(pending).put(bytes, from, bytes.length - from).flip();
        pending = input;
        return decode(false);
    }

    /** Returns what is left of an incomplete character, as U+FFFD, or nothing; the stream can take further tokens. */
    public String finish() {
        String rest = decode(true);
        pending = ByteBuffer.allocate(0);
        decoder.reset();
        return rest;
    }

    private String decode(boolean end) {
        CharBuffer text = CharBuffer.allocate(pending.remaining() + MAX_CHARACTER_BYTES);
        var result = decoder.decode(pending, text, end);
        if (end) {
            result = decoder.flush(text);
        }
        if (result.isOverflow()) {
            throw new IllegalStateException("UTF-8 of " + pending.limit() + " bytes exceeds as many chars");
        }
        return text.flip().toString();
    }
}
