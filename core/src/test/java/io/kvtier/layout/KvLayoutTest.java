package io.kvtier.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class KvLayoutTest {
    @Test
    void sizesOfGroupedQueryAttention() {
        KvLayout layout = KvLayout.keyValue(ElementType.BF16, 32, 8, 128);
        assertThat(layout.planes()).isEqualTo(2);
        assertThat(layout.rowBytes()).isEqualTo(2048);
        assertThat(layout.bytesPerToken()).isEqualTo(131_072);
        assertThat(layout.objectBytes(256)).isEqualTo(33_554_432);
        assertThat(layout).hasToString("kv:bf16:layers=32:heads=8:headSize=128");
    }

    @Test
    void sizesOfLatentAttention() {
        KvLayout layout = KvLayout.latent(ElementType.F8_E4M3, 61, 576);
        assertThat(layout.planes()).isEqualTo(1);
        assertThat(layout.rowBytes()).isEqualTo(576);
        assertThat(layout.bytesPerToken()).isEqualTo(576 * 61);
    }

    @Test
    void opaqueObjectsAreBytesPerToken() {
        assertThat(KvLayout.opaque(1_000_000).objectBytes(4096)).isEqualTo(4_096_000_000L);
        assertRefused("headSize must be at least 1, got 0", () -> KvLayout.opaque(0));
    }

    @Test
    void planesFollowOneAnotherWithoutGaps() {
        KvLayout layout = KvLayout.keyValue(ElementType.F32, 3, 2, 5);
        long expected = 0;
        for (int plane = 0; plane < 2; plane++) {
            for (int layer = 0; layer < 3; layer++) {
                assertThat(layout.planeOffset(plane, layer, 7)).isEqualTo(expected);
                expected += 7L * layout.rowBytes();
            }
        }
        assertThat(layout.objectBytes(7)).isEqualTo(expected);
        assertThatThrownBy(() -> layout.planeOffset(2, 0, 7)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> layout.planeOffset(0, 3, 7)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void dimensionsBelowOneAreRefused() {
        assertRefused("layers must be at least 1, got 0", () -> KvLayout.keyValue(ElementType.F16, 0, 1, 1));
        assertRefused("heads must be at least 1, got -1", () -> KvLayout.keyValue(ElementType.F16, 1, -1, 1));
        assertRefused("headSize", () -> KvLayout.keyValue(ElementType.F16, 1, 1, 0));
        assertRefused("groups", () -> new KvLayout(KvFormat.LATENT, ElementType.F16, 1, 1, 1, 0));
        assertRefused(
                "tokens must be at least 1, got 0", () -> KvLayout.opaque(1).objectBytes(0));
    }

    @Test
    void aTokenMustFitIn2GiB() {
        int max = Integer.MAX_VALUE;
        assertThat(KvLayout.opaque(max).bytesPerToken()).isEqualTo(max);
        assertRefused("2 GiB", () -> KvLayout.keyValue(ElementType.U8, 1, 1, 1 << 30));
        assertRefused("heads=2147483647", () -> KvLayout.keyValue(ElementType.F32, max, max, max));
    }

    @Test
    void codesStandForOneValueEach() {
        Set<Integer> codes = new HashSet<>();
        for (ElementType type : ElementType.values()) {
            assertThat(ElementType.ofCode(type.code())).isEqualTo(type);
            codes.add(type.code());
        }
        assertThat(codes).hasSize(ElementType.values().length);
        for (KvFormat format : KvFormat.values()) {
            assertThat(KvFormat.ofCode(format.code())).isEqualTo(format);
        }
        assertRefused("element type code 0", () -> ElementType.ofCode(0));
        assertRefused("KV format code 99", () -> KvFormat.ofCode(99));
    }

    private static void assertRefused(String message, Runnable creation) {
        assertThatIllegalArgumentException().isThrownBy(creation::run).withMessageContaining(message);
    }
}
