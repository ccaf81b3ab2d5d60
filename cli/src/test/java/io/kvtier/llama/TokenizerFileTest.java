package io.kvtier.llama;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Reading of tokenizer files, above all of wrong ones. */
final class TokenizerFileTest {
    private static final int SIZE = 6227;

    @TempDir
    private Path directory;

    private Path file;
    private byte[] bytes;

    @BeforeEach
    void copyTokenizer() throws IOException {
        file = directory.resolve("tok.bin");
        try (InputStream in = Tokenizer.class.getResourceAsStream("tok512.bin")) {
            bytes = in.readAllBytes();
        }
        Files.write(file, bytes);
    }

    @Test
    void readsTheSameFromFileAndResource() throws IOException {
        Tokenizer read = Tokenizer.read(file, 512);
        assertThat(read.vocabulary()).isEqualTo(512);
        assertThat(Tokenizer.bundled().vocabulary()).isEqualTo(512);
        for (int token = 0; token < 512; token++) {
            assertThat(read.decode(token)).isEqualTo(Tokenizer.bundled().decode(token));
        }
    }

    @Test
    void refusesEveryTruncation() throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            for (int length = SIZE - 1; length >= 0; length--) {
                channel.truncate(length);
                assertThatExceptionOfType(ModelFileException.class)
                        .isThrownBy(() -> Tokenizer.read(file, 512))
                        .withMessageMatching(".*tok.bin: needs at least \\d+ bytes, has " + length);
            }
        }
    }

    @Test
    void refusesOneByteMore() throws IOException {
        Files.write(file, new byte[1], StandardOpenOption.APPEND);
        assertRefused("must have 6227 bytes for its 512 tokens, has 6228");
    }

    @Test
    void refusesAnotherVocabulary() {
        assertThatExceptionOfType(ModelFileException.class)
                .isThrownBy(() -> Tokenizer.read(file, 511))
                .withMessage(file + ": must have 6216 bytes for its 511 tokens, has 6227");
        assertThatExceptionOfType(ModelFileException.class)
                .isThrownBy(() -> Tokenizer.read(file, 513))
                .withMessage(file + ": needs at least 6231 bytes, has 6227");
        assertThatExceptionOfType(ModelFileException.class)
                .isThrownBy(() -> Tokenizer.read(file, Integer.MAX_VALUE))
                .withMessage(file + ": needs at least 19327352827 bytes, has 6227");
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, 0, 259})
    void refusesVocabularyWithoutPieces(int vocabulary) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Tokenizer.read(file, vocabulary))
                .withMessage("vocabulary must be above 259, got " + vocabulary);
    }

    @Test
    void refusesAnotherLongestToken() throws IOException {
        setInt(0, 8);
        assertRefused("longest token must have 8 bytes by the header, has 7");
        setInt(0, 6);
        assertRefused("length of token 374 must be within 1..6 bytes, is 7");
        setInt(0, -1);
        assertRefused("longest token must have at least 1 byte, has -1 by the header");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE, 8, Integer.MAX_VALUE})
    void refusesImpossibleLength(int length) throws IOException {
        setInt(8, length);
        assertRefused("length of token 0 must be within 1..7 bytes, is " + length);
    }

    @Test
    void refusesScoreThatIsNotANumber() throws IOException {
        setInt(4, Float.floatToIntBits(Float.NaN));
        assertRefused("score of token 0 is not a number");
    }

    @Test
    void refusesAnotherTextOfAByte() throws IOException {
        Files.write(file, tokenizer("<0x00>", "<0x7f>", " "));
        assertThatExceptionOfType(ModelFileException.class)
                .isThrownBy(() -> Tokenizer.read(file, 260))
                .withMessage(file + ": token 130 must be \"<0x7F>\", is \"<0x7f>\"");
    }

    @Test
    void refusesVocabularyWithoutSpace() throws IOException {
        Files.write(file, tokenizer("<0x00>", "<0x7F>", "a"));
        assertThatExceptionOfType(ModelFileException.class)
                .isThrownBy(() -> Tokenizer.read(file, 260))
                .withMessage(file + ": the piece \" \" is missing, which texts begin with");
    }

    @Test
    void smallestVocabularyHasNoPieceButSpace() throws IOException {
        Files.write(file, tokenizer("<0x00>", "<0x7F>", " "));
        Tokenizer tokenizer = Tokenizer.read(file, 260);
        assertThat(tokenizer.encode("a b")).containsExactly(1, 259, 3 + 'a', 259, 3 + 'b');
        assertThat(tokenizer.decode(1, 259, 3 + 'a', 259, 3 + 'b')).isEqualTo("a b");
    }

    @Test
    void anyChangedByteIsRefusedOrRead() throws IOException {
        Random random = new Random(1);
        for (int i = 0; i < 2000; i++) {
            byte[] changed = bytes.clone();
            changed[i < 64 ? i : random.nextInt(SIZE)] ^= (byte) (1 + random.nextInt(255));
            Files.write(file, changed);
            try {
                assertThat(Tokenizer.read(file, 512).encode("Once upon")).startsWith(Tokenizer.START);
            } catch (ModelFileException refused) {
                assertThat(refused).hasMessageStartingWith(file + ": ");
            }
        }
    }

    private void assertRefused(String problem) {
        assertThatExceptionOfType(ModelFileException.class)
                .isThrownBy(() -> Tokenizer.read(file, 512))
                .withMessage(file + ": " + problem);
    }

    private void setInt(int offset, int value) throws IOException {
        ByteBuffer changed = ByteBuffer.wrap(bytes.clone()).order(ByteOrder.LITTLE_ENDIAN);
        changed.putInt(offset, value);
        Files.write(file, changed.array());
    }

    /** Returns a tokenizer of one piece. */
    private static byte[] tokenizer(String firstByte, String byte127, String piece) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(
                ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(6).array());
        writeToken(out, "<unk>");
        writeToken(out, "<s>");
        writeToken(out, "</s>");
        for (int value = 0; value < 256; value++) {
            writeToken(out, value == 0 ? firstByte : value == 127 ? byte127 : "<0x%02X>".formatted(value));
        }
        writeToken(out, piece);
        return out.toByteArray();
    }

    private static void writeToken(ByteArrayOutputStream out, String text) throws IOException {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        ByteBuffer head = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
        out.write(head.putFloat(0).putInt(utf8.length).array());
        out.write(utf8);
    }
}
