package io.kvtier.llama;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

final class GreedySamplerTest {
    @Test
    void choosesTheHighest() {
        assertThat(GreedySampler.next(new float[] {-3, 5, 4, -1})).isEqualTo(1);
        assertThat(GreedySampler.next(new float[] {Float.NEGATIVE_INFINITY, -2, -1}))
                .isEqualTo(2);
    }

    @Test
    void choosesTheLowestTokenOnATie() {
        assertThat(GreedySampler.next(new float[] {1, 7, 7, 7})).isEqualTo(1);
        assertThat(GreedySampler.next(new float[] {0.0f, -0.0f})).isZero();
        assertThat(GreedySampler.next(new float[] {-0.0f, 0.0f})).isZero();
    }

    @Test
    void refusesWhatIsNotANumber() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> GreedySampler.next(new float[] {1, 2, Float.NaN}))
                .withMessage("logit of token 2 is not a number");
        assertThatIllegalArgumentException().isThrownBy(() -> GreedySampler.next(new float[0]));
    }
}
