package io.kvtier.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvtier.layout.ElementType;
import io.kvtier.layout.KvLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PagedKvTest {
    /** 3 layers of 2 planes, rows of 8 bytes. */
    private static final KvLayout LAYOUT = KvLayout.keyValue(ElementType.F16, 3, 2, 2);

    private final Arena arena = Arena.ofShared();

    @AfterEach
    void close() {
        arena.close();
    }

    @Test
    void planesAreFoundByLayerThenPlane() {
        List<MemorySegment> planes = planes(6, 5 * 4 * 8);
        PagedKv kv = new PagedKv(LAYOUT, 5, 4, planes);
        for (int layer = 0; layer < 3; layer++) {
            assertThat(kv.plane(layer, 0)).isEqualTo(planes.get(2 * layer));
            assertThat(kv.plane(layer, 1)).isEqualTo(planes.get(2 * layer + 1));
        }
    }

    @Test
    void aViewSharesTheEnginesMemory() {
        List<MemorySegment> planes = planes(6, 5 * 4 * 8);
        PagedKv kv = new PagedKv(LAYOUT, 5, 4, planes);
        planes.get(3).set(ValueLayout.JAVA_BYTE, 159, (byte) 7);
        assertThat(kv.plane(1, 1).get(ValueLayout.JAVA_BYTE, 159)).isEqualTo((byte) 7);
    }

    @Test
    void theListOfPlanesIsCopied() {
        List<MemorySegment> planes = planes(6, 5 * 4 * 8);
        PagedKv kv = new PagedKv(LAYOUT, 5, 4, planes);
        MemorySegment first = planes.getFirst();
        planes.clear();
        assertThat(kv.plane(0, 0)).isEqualTo(first);
    }

    @Test
    void saysWhatItWasMadeOf() {
        PagedKv kv = new PagedKv(LAYOUT, 5, 4, planes(6, 5 * 4 * 8));
        assertThat(kv.layout()).isEqualTo(LAYOUT);
        assertThat(kv.blocks()).isEqualTo(5);
        assertThat(kv.blockTokens()).isEqualTo(4);
        assertThat(kv.slots()).isEqualTo(20);
    }

    @Test
    void allocatedPlanesAreZeroedAlignedAndApart() {
        PagedKv kv = PagedKv.allocate(LAYOUT, 3, 5, arena);
        for (int layer = 0; layer < 3; layer++) {
            for (int plane = 0; plane < 2; plane++) {
                MemorySegment rows = kv.plane(layer, plane);
                assertThat(rows.byteSize()).isEqualTo(3 * 5 * 8);
                assertThat(rows.address() % 64).isZero();
                assertThat(rows.toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
                rows.fill((byte) 1);
            }
        }
    }

    @Test
    void aLatentLayoutHasOnePlanePerLayer() {
        PagedKv kv = PagedKv.allocate(KvLayout.latent(ElementType.BF16, 2, 5), 3, 4, arena);
        assertThat(kv.plane(1, 0).byteSize()).isEqualTo(3 * 4 * 10);
        assertOutside(kv, 0, 1);
    }

    @Test
    void planesThatAreNotThereAreRefused() {
        PagedKv kv = PagedKv.allocate(LAYOUT, 1, 1, arena);
        assertOutside(kv, 3, 0);
        assertOutside(kv, -1, 0);
        assertOutside(kv, 0, 2);
        assertOutside(kv, 0, -1);
    }

    @Test
    void anotherNumberOfPlanesIsRefusedWithBothNumbers() {
        for (int count : new int[] {0, 5, 7}) {
            assertRefused(
                    "needs 6 plane segments (layers x planes), got " + count,
                    () -> new PagedKv(LAYOUT, 5, 4, planes(count, 160)));
        }
    }

    @Test
    void planesOfAnotherSizeAreRefusedWithBothSizes() {
        for (int size : new int[] {0, 159, 161}) {
            List<MemorySegment> planes = planes(6, 160);
            planes.set(4, arena.allocate(size));
            assertRefused(
                    "plane segment 4 must have 160 bytes (5 blocks of 4 tokens of 8 bytes), got " + size,
                    () -> new PagedKv(LAYOUT, 5, 4, planes));
        }
    }

    @Test
    void numbersBelowOneAreRefused() {
        assertRefused("blocks must be at least 1, got 0", () -> new PagedKv(LAYOUT, 0, 4, planes(6, 0)));
        assertRefused("blockTokens must be at least 1, got -4", () -> new PagedKv(LAYOUT, 5, -4, planes(6, 0)));
        assertRefused("blocks must be at least 1, got -1", () -> PagedKv.allocate(LAYOUT, -1, 4, arena));
        assertRefused("blockTokens must be at least 1, got 0", () -> PagedKv.allocate(LAYOUT, 5, 0, arena));
    }

    private List<MemorySegment> planes(int count, long bytes) {
        List<MemorySegment> planes = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            planes.add(arena.allocate(bytes));
        }
        return planes;
    }

    private static void assertOutside(PagedKv kv, int layer, int plane) {
        assertThatThrownBy(() -> kv.plane(layer, plane)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    private static void assertRefused(String message, Runnable creation) {
        assertThatIllegalArgumentException().isThrownBy(creation::run).withMessageContaining(message);
    }
}
