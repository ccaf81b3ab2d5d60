package io.kvtier.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class PairTablePropertyTest {
    /** A pair as a key of the model. */
    record Pair(int scope, long id) {}

    @Property(tries = 60)
    void numbersPairsLikeAHashMap(
            @ForAll Random random, @ForAll @IntRange(min = 1, max = 5000) int count, @ForAll boolean wide)
            throws BadLineException {
        PairTable table = new PairTable();
        Map<Pair, Integer> model = new HashMap<>();
        for (int i = 0; i < count; i++) {
            Pair pair = new Pair(random.nextInt(4) - 1, wide ? random.nextLong() : random.nextInt(count));
            assertThat(table.find(pair.scope, pair.id)).isEqualTo(model.getOrDefault(pair, -1));
            int number = model.computeIfAbsent(pair, p -> model.size());
            assertThat(table.intern(pair.scope, pair.id, pair.scope + 7)).isEqualTo(number);
        }
        assertThat(table.size()).isEqualTo(model.size());
        model.forEach((pair, number) -> {
            assertThat(table.scope(number)).isEqualTo(pair.scope);
            assertThat(table.id(number)).isEqualTo(pair.id);
            assertThat(table.value(number)).isEqualTo(pair.scope + 7);
        });
    }
}
