package io.kvtier.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

class ObjectKeysTest {
    private final KeySpaces spaces = new KeySpaces();

    @Test
    void aKeySpaceHasOneNumber() {
        ObjectKeys first = spaces.keys(SampleKeys.SPACE);
        ObjectKeys second = spaces.keys(SampleKeys.variants().get("salt"));
        assertThat(first.spaceId()).isNotEqualTo(second.spaceId());
        assertThat(spaces.keys(SampleKeys.SPACE).spaceId()).isEqualTo(first.spaceId());
        assertThat(spaces.space(first.spaceId())).isEqualTo(SampleKeys.SPACE);
        assertThat(spaces.all()).containsExactly(first.space(), second.space());
        assertThatThrownBy(() -> spaces.space(2)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void keysComeBackInOrder() {
        ObjectKeys keys = SampleKeys.keys(spaces, SampleKeys.SPACE, 100);
        assertThat(keys.size()).isEqualTo(100);
        for (int i = 0; i < 100; i++) {
            assertThat(keys.key(i)).isEqualTo(new ObjectKey(SampleKeys.SPACE, SampleKeys.hash(i, 32)));
        }
        assertThatThrownBy(() -> keys.key(100)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> keys.word(100, 0)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void resizingKeepsTheHashesThatStay() {
        ObjectKeys keys = SampleKeys.keys(spaces, SampleKeys.SPACE, 10);
        keys.resize(3);
        assertThat(keys.size()).isEqualTo(3);
        keys.resize(200);
        for (int i = 0; i < 3; i++) {
            assertThat(keys.key(i).chunkHash()).isEqualTo(SampleKeys.hash(i, 32));
        }
        assertThatThrownBy(() -> keys.resize(-1)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void aShorterHashIsFollowedByZerosEvenWhereALongerOneStood() {
        ObjectKeys keys = spaces.keys(SampleKeys.variants().get("hash bytes"));
        Arrays.fill(keys.resize(1), (byte) -1);
        keys.resize(0);
        keys.add(SampleKeys.hash(7, 31));
        assertThat(keys.word(0, 3) >>> 56).isZero();
        assertThat(keys.key(0).chunkHash()).isEqualTo(SampleKeys.hash(7, 31));
    }

    @Test
    void aHashOfAnotherLengthIsRefused() {
        ObjectKeys keys = spaces.keys(SampleKeys.SPACE);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> keys.add(SampleKeys.hash(0, 31)))
                .withMessageContaining("32 bytes")
                .withMessageContaining("31");
        assertThat(keys.size()).isZero();
    }

    @Test
    void aChunkHashIsACopyOfFrom1To32Bytes() {
        byte[] bytes = {1, 2, (byte) 0xFF};
        ChunkHash hash = ChunkHash.of(bytes);
        bytes[0] = 9;
        hash.bytes()[1] = 9;
        assertThat(hash).isEqualTo(ChunkHash.of((byte) 1, (byte) 2, (byte) -1)).hasToString("0102ff");
        assertThatIllegalArgumentException().isThrownBy(ChunkHash::of).withMessageContaining("got 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ChunkHash.of(new byte[33]))
                .withMessageContaining("got 33");
    }
}
