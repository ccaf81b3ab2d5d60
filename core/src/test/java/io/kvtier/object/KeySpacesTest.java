package io.kvtier.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

class KeySpacesTest {
    private final KeySpaces spaces = new KeySpaces();
    private final ObjectIndex index = new ObjectIndex();

    @Test
    void lookingUpEntersNothingAndFindsNothing() {
        ObjectKeys stored = SampleKeys.keys(spaces, SampleKeys.SPACE, 1);
        assertThat(index.link(index.stage(stored, 0))).isTrue();
        for (int tenant = 0; tenant < 1000; tenant++) {
            KeySpace other = KeySpace.of(SampleKeys.SPACE.identity(), 0, "tenant " + tenant);
            ObjectKeys keys = spaces.keysToFind(other);
            keys.add(stored.key(0).chunkHash());
            assertThat(index.find(keys, 0)).isEqualTo(ObjectIndex.NONE);
        }
        assertThat(spaces.all()).containsExactly(SampleKeys.SPACE);
    }

    @Test
    void keysToFindFindWhatIsStored() {
        ObjectKeys stored = SampleKeys.keys(spaces, SampleKeys.SPACE, 1);
        int slot = index.stage(stored, 0);
        assertThat(index.link(slot)).isTrue();
        ObjectKeys keys = spaces.keysToFind(SampleKeys.SPACE);
        keys.add(stored.key(0).chunkHash());
        assertThat(index.find(keys, 0)).isEqualTo(slot);
    }

    @Test
    void keysToFindAreNotStored() {
        ObjectKeys keys = spaces.keysToFind(SampleKeys.SPACE);
        keys.add(SampleKeys.hash(1, SampleKeys.SPACE.identity().hashBytes()));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> index.stage(keys, 0))
                .withMessageContaining("not registered");
    }
}
