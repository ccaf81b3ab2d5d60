package io.kvtier.jmh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import io.kvtier.jmh.Pairs.Pair;
import java.util.List;
import org.junit.jupiter.api.Test;

class PairsTest {
    @Test
    void theRatioIsTheMedianOfTheRatios() {
        Pairs pairs = new Pairs(List.of(new Pair(10, 20), new Pair(1000, 900), new Pair(30, 30)));
        assertThat(pairs.ratio()).isEqualTo(1);
        assertThat(pairs.ours().nanos()).isEqualTo(30);
        assertThat(pairs.anchor().nanos()).isEqualTo(30);
    }

    @Test
    void anEvenNumberOfPairsHasItsMedianBetweenTheTwoInTheMiddle() {
        Pairs pairs = new Pairs(List.of(new Pair(1, 4), new Pair(1, 1), new Pair(1, 2), new Pair(1, 3)));
        assertThat(pairs.ratio()).isEqualTo(2.5, within(1e-9));
        assertThat(pairs.ratio(0.25)).isEqualTo(1.75, within(1e-9));
        assertThat(pairs.ratio(0)).isEqualTo(1);
        assertThat(pairs.ratio(1)).isEqualTo(4);
    }

    @Test
    void oneOutlierMovesNeitherMedianNorQuartiles() {
        Pair even = new Pair(10, 10);
        Pairs pairs = new Pairs(List.of(even, even, new Pair(1000, 10), even, even));
        assertThat(pairs.ratio()).isEqualTo(1);
        assertThat(pairs.ratio(0.25)).isEqualTo(1);
        assertThat(pairs.ours().nanos()).isEqualTo(10);
    }

    @Test
    void noPairsAreNoMeasurement() {
        assertThatIllegalArgumentException().isThrownBy(() -> new Pairs(List.of()));
    }

    @Test
    void eachRunsOnceInAPairInTurnsTheOneOrTheOtherFirst() {
        StringBuilder order = new StringBuilder();
        PairTimes times = new PairTimes();
        for (int i = 0; i < 3; i++) {
            times.measure(() -> order.append('o'), () -> order.append('a'));
        }
        assertThat(order).hasToString("oaaooa");
        assertThat(times.oursNanos).isNotNegative();
        assertThat(times.anchorNanos).isNotNegative();
    }
}
