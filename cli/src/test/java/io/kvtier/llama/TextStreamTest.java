package io.kvtier.llama;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.junit.jupiter.api.Test;

final class TextStreamTest {
    private static final int SPACE = 410;
    private static final int T = 260 - 1;

    private final TextStream stream = Tokenizer.bundled().newTextStream();

    @Test
    void charactersComeOutWithTheirLastByte() {
        assertThat(stream.append(3 + 0xF0)).isEmpty();
        assertThat(stream.append(3 + 0x9F)).isEmpty();
        assertThat(stream.append(3 + 0x98)).isEmpty();
        assertThat(stream.append(3 + 0x80)).isEqualTo("😀");
        assertThat(stream.finish()).isEmpty();
    }

    @Test
    void onlyTheFirstPieceAfterTheStartLosesItsSpace() {
        assertThat(stream.append(T)).isEqualTo(" t");
        assertThat(stream.append(Tokenizer.START)).isEmpty();
        assertThat(stream.append(T)).isEqualTo("t");
        assertThat(stream.append(T)).isEqualTo(" t");
        assertThat(stream.append(Tokenizer.START)).isEmpty();
        assertThat(stream.append(SPACE)).isEmpty();
        assertThat(stream.append(SPACE)).isEqualTo(" ");
    }

    @Test
    void endHasNoText() {
        assertThat(stream.append(T)).isEqualTo(" t");
        assertThat(stream.append(Tokenizer.END)).isEmpty();
        assertThat(stream.append(T)).isEqualTo(" t");
    }

    @Test
    void bytesThatAreNotUtf8AreReplaced() {
        assertThat(stream.append(3 + 0xFF)).isEqualTo("\ufffd");
        assertThat(stream.append(3 + 0xE2)).isEmpty();
        assertThat(stream.append(T)).isEqualTo("\ufffd t");
        assertThat(stream.append(3 + 0xE2)).isEmpty();
        assertThat(stream.append(Tokenizer.START)).isEqualTo("\ufffd");
        assertThat(stream.append(3 + 0xE2)).isEmpty();
        assertThat(stream.append(3 + 0x82)).isEmpty();
        assertThat(stream.finish()).isEqualTo("\ufffd");
        assertThat(stream.finish()).isEmpty();
        assertThat(stream.append(3 + 'a')).isEqualTo("a");
    }

    @Test
    void unknownTokenLeavesTheStreamAsItIs() {
        assertThat(stream.append(3 + 0xC3)).isEmpty();
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> stream.append(512));
        assertThat(stream.append(3 + 0xA9)).isEqualTo("é");
    }
}
