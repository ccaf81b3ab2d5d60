package io.kvtier.llama;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class WeightsTest {
    private static final int SIZE = 1_056_540;
    private static final int HEADER_INTS = 7;
    private static final int EMBEDDING_BYTES = 512 * 64 * Float.BYTES;

    @TempDir
    private Path directory;

    private Path file;
    private byte[] bytes;

    @BeforeEach
    void copyModel() throws IOException {
        file = directory.resolve("model.bin");
        try (InputStream in = Weights.class.getResourceAsStream("stories260K.bin")) {
            bytes = in.readAllBytes();
        }
        Files.write(file, bytes);
    }

    @ParameterizedTest
    @CsvSource({
        "stories260K.bin, b0a507e7ad0f626624f17112325e66691f9076d622e1d3274d103d00299f2696",
        "tok512.bin, 037cb335abb25d1fa9e8ecae30ed2a3a8ace9302862ebcdc05d51a6bbb10c312"
    })
    void bundledFilesAreTheOriginals(String resource, String sha256) throws Exception {
        try (InputStream in = Weights.class.getResourceAsStream(resource)) {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(in.readAllBytes());
            assertThat(HexFormat.of().formatHex(digest)).isEqualTo(sha256);
        }
    }

    @Test
    void readsTheDimensions() throws IOException {
        ModelConfig expected = new ModelConfig(64, 172, 5, 8, 4, 512, 512, true);
        assertThat(Weights.read(file).config()).isEqualTo(expected);
        assertThat(Weights.bundled().config()).isEqualTo(expected);
    }

    @Test
    void readsTheSameFromFileAndResource() throws IOException {
        Weights read = Weights.read(file);
        Weights bundled = Weights.bundled();
        assertThat(read.embedding).isEqualTo(bundled.embedding);
        assertThat(read.down).isDeepEqualTo(bundled.down);
        assertThat(read.lastNorm).isEqualTo(bundled.lastNorm);
        assertThat(read.output).isSameAs(read.embedding);
    }

    @Test
    void negativeVocabularyMeansAnOutputMatrixOfItsOwn() throws IOException {
        setHeader(5, -512);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.APPEND)) {
            channel.write(ByteBuffer.wrap(bytes, HEADER_INTS * Integer.BYTES, EMBEDDING_BYTES));
        }
        Weights weights = Weights.read(file);
        assertThat(weights.config()).isEqualTo(new ModelConfig(64, 172, 5, 8, 4, 512, 512, false));
        assertThat(weights.output).isEqualTo(weights.embedding).isNotSameAs(weights.embedding);
        truncate(SIZE);
        assertThatExceptionOfType(ModelFileException.class)
                .isThrownBy(() -> Weights.read(file))
                .withMessageContaining("must have " + (SIZE + EMBEDDING_BYTES) + " bytes")
                .withMessageEndingWith("has " + SIZE);
    }

    @Test
    void refusesTruncatedFiles() throws IOException {
        for (int length = SIZE - 1; length >= 0; length -= length > 64 ? 4093 : 1) {
            truncate(length);
            int needed = length < 28 ? 28 : SIZE;
            assertThatExceptionOfType(ModelFileException.class)
                    .isThrownBy(() -> Weights.read(file))
                    .withMessageStartingWith(file + ": ")
                    .withMessageContaining(needed + " bytes")
                    .withMessageEndingWith("has " + length);
        }
    }

    @Test
    void refusesOneByteMore() throws IOException {
        Files.write(file, new byte[1], StandardOpenOption.APPEND);
        assertThatExceptionOfType(ModelFileException.class)
                .isThrownBy(() -> Weights.read(file))
                .withMessageStartingWith(file + ": must have " + SIZE + " bytes by its header")
                .withMessageEndingWith("has " + (SIZE + 1));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6})
    void refusesEveryOtherHeaderValue(int field) throws IOException {
        int original = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(field * Integer.BYTES);
        Random random = new Random(field);
        for (int i = 0; i < 700; i++) {
            int value = i < 600 ? i - 50 : random.nextInt();
            if (value != original) {
                setHeader(field, value);
                assertThatExceptionOfType(ModelFileException.class)
                        .as("field %d = %d", field, value)
                        .isThrownBy(() -> Weights.read(file))
                        .withMessageStartingWith(file + ": ");
            }
        }
    }

    @Test
    void headerThatLiesAboutTerabytesAllocatesNothing() throws IOException {
        int[] largest = {32_768, 65_535, 1024, 256, 256, 65_535, 65_535};
        for (int field = 0; field < HEADER_INTS; field++) {
            setHeader(field, largest[field]);
        }
        assertThatExceptionOfType(ModelFileException.class)
                .isThrownBy(() -> Weights.read(file))
                .withMessageContaining("must have 43988954381852 bytes")
                .withMessageEndingWith("has " + SIZE);
    }

    @Test
    void nonsenseInTheHeaderIsNamed() throws IOException {
        setHeader(3, 7);
        assertThatExceptionOfType(ModelFileException.class)
                .isThrownBy(() -> Weights.read(file))
                .withMessage(file + ": dim must be divisible by heads, got 64 and 7");
    }

    @Test
    void missingFileAndDirectoryAreNotModels() {
        assertThatThrownBy(() -> Weights.read(directory.resolve("none"))).isInstanceOf(NoSuchFileException.class);
        assertThatThrownBy(() -> Weights.read(directory)).isInstanceOf(IOException.class);
    }

    private void setHeader(int field, int value) throws IOException {
        ByteBuffer little = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        little.putInt(value).flip();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(little, (long) field * Integer.BYTES);
        }
    }

    private void truncate(int length) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(length);
        }
    }
}
