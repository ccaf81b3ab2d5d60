package io.kvtier.llama;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.Map;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;

/** The decoder against a run that an independent program computed in float64. */
final class ReferenceRunTest {
    /** Of one element: float32 and float64 runs differ by up to 1.9e-5 in K (up to 29.7) and by less in V. */
    private static final double TOLERANCE = 1e-4;

    /**
     * Of a norm, relative: with every element off by 1.9e-5 (K) or 3.7e-6 (V), the norm over 256 x 32 elements would be
     * off by at most sqrt(8192) times that, 5.4e-6 of the least K norm (319) and 9.7e-6 of the least V norm (34.8).
     */
    private static final double NORM_TOLERANCE = 1e-5;

    private static final int LAYERS = 5;
    private static final int ROW = 32;

    private static final GreedyRun RUN = new GreedyRun(BlockTable.permuted(512, 16, 7, 1), Reference.STEPS);

    @Test
    void greedyTokensAreThoseOfTheReference() {
        assertThat(RUN.ids).isEqualTo(Reference.ids());
    }

    @Test
    void everyRowOfKvIsThatOfTheReference() {
        for (int layer = 0; layer < LAYERS; layer++) {
            for (int plane = 0; plane < 2; plane++) {
                float[] expected = Reference.tensor(layer, plane);
                assertThat(expected).hasSize(Reference.STEPS * ROW);
                for (int i = 0; i < expected.length; i++) {
                    assertThat((double) RUN.row(layer, plane, i / ROW)[i % ROW])
                            .as("layer %d, plane %d, position %d, element %d", layer, plane, i / ROW, i % ROW)
                            .isCloseTo(expected[i], within(TOLERANCE));
                }
            }
        }
    }

    @Test
    void samplesAreThoseOfTheReference() {
        assertThat(Reference.objects("samples")).hasSize(4).allSatisfy(sample -> {
            int layer = (int) Reference.number(sample, "layer");
            int position = (int) Reference.number(sample, "pos");
            assertClose(RUN.row(layer, 0, position), Reference.numbers(sample, "k"));
            assertClose(RUN.row(layer, 1, position), Reference.numbers(sample, "v"));
        });
    }

    @Test
    void normsOfLayersAreThoseOfTheReference() {
        assertThat(Reference.objects("per_layer")).hasSize(LAYERS).allSatisfy(expected -> {
            int layer = (int) Reference.number(expected, "layer");
            assertNorms(layer, 0, expected, "k");
            assertNorms(layer, 1, expected, "v");
        });
    }

    @Test
    void logitsAreThoseOfTheReference() {
        float[] first = RUN.logits[0];
        double[] expected = Reference.numbers("logits_pos0_first8");
        assertClose(Arrays.copyOf(first, expected.length), expected);
        float[] last = RUN.logits[Reference.STEPS - 1];
        int best = GreedySampler.next(last);
        assertThat(best).isEqualTo((int) Reference.number("logits_last_argmax"));
        assertThat((double) last[best]).isCloseTo(Reference.number("logits_last_max"), within(TOLERANCE));
    }

    private static void assertNorms(int layer, int plane, Map<?, ?> expected, String name) {
        double squares = 0;
        double largest = 0;
        for (int position = 0; position < Reference.STEPS; position++) {
            for (double element : RUN.row(layer, plane, position)) {
                squares += element * element;
                largest = Math.max(largest, Math.abs(element));
            }
        }
        double norm = Reference.number(expected, name + "_l2");
        Offset<Double> tolerance = within(NORM_TOLERANCE * norm);
        assertThat(Math.sqrt(squares)).isCloseTo(norm, tolerance);
        assertThat(largest).isCloseTo(Reference.number(expected, name + "_absmax"), within(TOLERANCE));
    }

    private static void assertClose(float[] actual, double[] expected) {
        assertThat(actual).hasSameSizeAs(expected);
        for (int i = 0; i < expected.length; i++) {
            assertThat((double) actual[i]).as("element %d", i).isCloseTo(expected[i], within(TOLERANCE));
        }
    }
}
