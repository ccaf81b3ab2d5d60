package io.kvtier.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Random;
import org.junit.jupiter.api.Test;

class BlockPayloadTest {
    @Test
    void bytesFollowFromEveryByteOfTheKey() {
        byte[] key = new byte[32];
        new Random(5).nextBytes(key);
        byte[] payload = payload(key, 100);
        assertThat(payload(key, 100)).isEqualTo(payload);
        for (int i = 0; i < key.length; i++) {
            byte[] other = key.clone();
            other[i] ^= 1;
            assertThat(payload(other, 100)).isNotEqualTo(payload);
        }
    }

    @Test
    void everyByteIsWritten() {
        byte[] key = new byte[32];
        for (int size = 1; size <= 40; size++) {
            byte[] either = new byte[size];
            for (int round = 0; round < 32; round++) {
                key[0] = (byte) round;
                byte[] payload = payload(key, size);
                for (int i = 0; i < size; i++) {
                    either[i] |= payload[i];
                }
            }
            assertThat(either).doesNotContain(0);
        }
    }

    private static byte[] payload(byte[] key, int size) {
        byte[] payload = new byte[size];
        BlockPayload.fill(key, 0, MemorySegment.ofArray(payload));
        return payload;
    }
}
