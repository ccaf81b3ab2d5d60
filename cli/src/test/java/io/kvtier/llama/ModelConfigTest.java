package io.kvtier.llama;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvtier.layout.ElementType;
import io.kvtier.layout.KvLayout;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ModelConfigTest {
    @Test
    void derivesHeadsAndLayout() {
        ModelConfig config = new ModelConfig(64, 172, 5, 8, 4, 512, 512, true);
        assertThat(config.headSize()).isEqualTo(8);
        assertThat(config.kvDim()).isEqualTo(32);
        assertThat(config.kvLayout()).isEqualTo(KvLayout.keyValue(ElementType.F32, 5, 4, 8));
        assertThat(config.kvLayout().bytesPerToken()).isEqualTo(1280);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "0;172;5;8;4;512;512; dim must be within 1..32768, got 0",
                "65536;172;5;8;4;512;512; dim must be within 1..32768, got 65536",
                "64;-1;5;8;4;512;512; hiddenDim must be within 1..131072, got -1",
                "64;172;1025;8;4;512;512; layers must be within 1..1024, got 1025",
                "64;172;5;128;4;512;512; heads must be within 1..64, got 128",
                "64;172;5;8;16;512;512; kvHeads must be within 1..8, got 16",
                "64;172;5;8;0;512;512; kvHeads must be within 1..8, got 0",
                "64;172;5;8;4;-2147483648;512; vocabulary must be within 1..1048576, got -2147483648",
                "64;172;5;8;4;512;0; maxTokens must be within 1..1048576, got 0",
                "64;172;5;7;4;512;512; dim must be divisible by heads, got 64 and 7",
                "64;172;5;8;3;512;512; heads must be divisible by kvHeads, got 8 and 3",
                "24;172;5;8;4;512;512; 'head size (dim / heads) must be even, as pairs are rotated, got 24 / 8 = 3'",
                "32768;131072;5;8;4;512;512; hiddenDim x dim must be at most 2147483647, got 131072 x 32768",
                "32768;172;5;8;4;1048576;512; vocabulary x dim must be at most 2147483647, got 1048576 x 32768",
                "32768;172;5;8;4;512;1048576; maxTokens x dim must be at most 2147483647, got 1048576 x 32768"
            })
    void refusesImpossibleDimensions(
            int dim, int hidden, int layers, int heads, int kvHeads, int vocabulary, int maxTokens, String message) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new ModelConfig(dim, hidden, layers, heads, kvHeads, vocabulary, maxTokens, true))
                .withMessage(message);
    }
}
