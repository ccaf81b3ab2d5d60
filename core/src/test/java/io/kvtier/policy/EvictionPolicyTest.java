package io.kvtier.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvtier.policy.EvictionPolicy.Kind;
import org.junit.jupiter.api.Test;

class EvictionPolicyTest {
    @Test
    void kindsAreFoundByNameInAnyCase() {
        assertThat(Kind.named("lru")).isEqualTo(Kind.LRU);
        assertThat(Kind.named("Fifo")).isEqualTo(Kind.FIFO);
    }

    @Test
    void anUnknownNameListsTheKnownOnes() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Kind.named("random"))
                .withMessageContaining("'random'")
                .withMessageContaining("lru, fifo");
    }
}
