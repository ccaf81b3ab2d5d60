package io.kvtier.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;

/** The policy against a list in order of use. */
class LruPolicyPropertyTest {
    private final EvictionPolicy policy = EvictionPolicy.Kind.LRU.create();
    private final List<Integer> model = new ArrayList<>();

    @Property(tries = 200, shrinking = ShrinkingMode.OFF)
    void namesTheVictimThatTheModelNames(@ForAll long seed) {
        Random random = new Random(seed);
        for (int step = 0; step < 300; step++) {
            int slot = random.nextInt(random.nextBoolean() ? 10 : 200);
            switch (random.nextInt(4)) {
                case 0, 1 -> add(slot);
                case 2 -> touch(slot);
                default -> remove(slot);
            }
            assertVictims(random);
        }
    }

    private void add(int slot) {
        if (model.contains(slot)) {
            assertThatIllegalStateException().isThrownBy(() -> policy.added(slot));
        } else {
            policy.added(slot);
            model.add(slot);
        }
    }

    private void touch(int slot) {
        if (model.contains(slot)) {
            policy.touched(slot);
            model.remove((Integer) slot);
            model.add(slot);
        } else {
            assertThatIllegalStateException().isThrownBy(() -> policy.touched(slot));
        }
    }

    private void remove(int slot) {
        if (model.remove((Integer) slot)) {
            policy.removed(slot);
        } else {
            assertThatIllegalStateException().isThrownBy(() -> policy.removed(slot));
        }
    }

    private void assertVictims(Random random) {
        assertThat(policy.victim(_ -> true)).isEqualTo(model.isEmpty() ? -1 : model.getFirst());
        assertThat(policy.victim(_ -> false)).isEqualTo(-1);
        Set<Integer> pinned = new HashSet<>();
        model.stream().filter(_ -> random.nextInt(3) > 0).forEach(pinned::add);
        int expected = model.stream()
                .filter(slot -> !pinned.contains(slot))
                .findFirst()
                .orElse(-1);
        assertThat(policy.victim(slot -> !pinned.contains(slot))).isEqualTo(expected);
    }
}
