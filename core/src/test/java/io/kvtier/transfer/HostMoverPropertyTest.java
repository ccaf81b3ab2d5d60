package io.kvtier.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvtier.layout.ElementType;
import io.kvtier.layout.KvLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.constraints.IntRange;

/** The mover against a copy of one byte after the other. */
class HostMoverPropertyTest {
    private static final int BLOCKS = 7;

    @Provide
    Arbitrary<KvLayout> layouts() {
        return Arbitraries.of(
                KvLayout.keyValue(ElementType.F16, 3, 2, 4),
                KvLayout.keyValue(ElementType.I8, 1, 1, 3),
                KvLayout.latent(ElementType.BF16, 4, 5),
                KvLayout.opaque(13));
    }

    @Property(shrinking = ShrinkingMode.OFF)
    void gatherAndScatterMoveJustTheRowsAskedFor(
            @ForAll("layouts") KvLayout layout,
            @ForAll @IntRange(min = 1, max = 5) int blockTokens,
            @ForAll @IntRange(min = 1, max = 7) int chunkTokens,
            @ForAll long seed) {
        Random random = new Random(seed);
        int slots = BLOCKS * blockTokens;
        int tokens = Math.min(chunkTokens, slots);
        int fromToken = random.nextInt(slots - tokens + 1);
        try (Arena arena = Arena.ofConfined()) {
            PagedKv source = randomKv(layout, blockTokens, arena, random);
            int[] from = mapping(slots, random);
            MemorySegment object = arena.allocate(layout.objectBytes(tokens));
            byte[][] untouched = bytes(source);
            HostMover.gather(source, from, fromToken, tokens, object);
            assertThat(bytes(source)).isDeepEqualTo(untouched);
            assertThat(object.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(plainGather(source, from, fromToken, tokens));

            PagedKv target = randomKv(layout, blockTokens, arena, random);
            int[] to = mapping(slots, random);
            byte[][] expected = bytes(target);
            plainScatter(layout, expected, to, fromToken, tokens, object.toArray(ValueLayout.JAVA_BYTE));
            HostMover.scatter(target, to, fromToken, tokens, object);
            assertThat(bytes(target)).isDeepEqualTo(expected);

            MemorySegment again = arena.allocate(object.byteSize());
            HostMover.gather(target, to, fromToken, tokens, again);
            assertThat(again.mismatch(object)).isEqualTo(-1);
        }
    }

    @Example
    void aSlotOutsideIsNamedWithTheSlotsThatThereAreAndNothingMoves() {
        try (Arena arena = Arena.ofConfined()) {
            PagedKv kv = PagedKv.allocate(KvLayout.opaque(2), 3, 4, arena);
            MemorySegment object = arena.allocate(6).fill((byte) 9);
            for (int slot : new int[] {12, -1, Integer.MAX_VALUE}) {
                assertThatThrownBy(() -> HostMover.scatter(kv, new int[] {0, 1, slot}, 0, 3, object))
                        .isInstanceOf(IndexOutOfBoundsException.class)
                        .hasMessageContaining("slot " + slot + " of token 2")
                        .hasMessageContaining("12 slots (3 blocks of 4 tokens)");
            }
            assertThat(kv.plane(0, 0).toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
            assertThatThrownBy(() -> HostMover.gather(kv, new int[] {0, 1, 12}, 0, 3, object))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThat(object.toArray(ValueLayout.JAVA_BYTE)).containsOnly(9);
        }
    }

    @Example
    void tokensWithoutASlotAreRefused() {
        try (Arena arena = Arena.ofConfined()) {
            PagedKv kv = PagedKv.allocate(KvLayout.opaque(2), 3, 4, arena);
            MemorySegment object = arena.allocate(6);
            assertThatThrownBy(() -> HostMover.gather(kv, new int[] {0, 1}, 0, 3, object))
                    .isInstanceOf(IndexOutOfBoundsException.class)
                    .hasMessageContaining("tokens 0 to 2")
                    .hasMessageContaining("has 2");
            assertThatThrownBy(() -> HostMover.gather(kv, new int[9], Integer.MAX_VALUE, 3, object))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> HostMover.gather(kv, new int[9], -1, 3, object))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Example
    void anObjectOfAnotherSizeIsRefusedWithBothSizes() {
        try (Arena arena = Arena.ofConfined()) {
            PagedKv kv = PagedKv.allocate(KvLayout.opaque(2), 3, 4, arena);
            for (int size : new int[] {5, 7}) {
                MemorySegment object = arena.allocate(size);
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> HostMover.scatter(kv, new int[3], 0, 3, object))
                        .withMessageContaining("6 bytes, got " + size);
            }
        }
    }

    @Example
    void pagedKvThatDoesNotFitItsLayoutIsRefused() {
        try (Arena arena = Arena.ofConfined()) {
            KvLayout layout = KvLayout.keyValue(ElementType.F16, 1, 1, 4);
            MemorySegment plane = arena.allocate(96);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new PagedKv(layout, 3, 4, List.of(plane)))
                    .withMessageContaining("needs 2 plane segments")
                    .withMessageContaining("got 1");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new PagedKv(layout, 3, 4, List.of(plane, arena.allocate(95))))
                    .withMessageContaining("segment 1 must have 96 bytes")
                    .withMessageContaining("got 95");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> new PagedKv(layout, 0, 4, List.of(plane, plane)))
                    .withMessageContaining("blocks must be at least 1, got 0");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> PagedKv.allocate(layout, -1, 4, arena))
                    .withMessageContaining("blocks must be at least 1, got -1");
        }
    }

    private static PagedKv randomKv(KvLayout layout, int blockTokens, Arena arena, Random random) {
        PagedKv kv = PagedKv.allocate(layout, BLOCKS, blockTokens, arena);
        for (int i = 0; i < layout.layers() * layout.planes(); i++) {
            byte[] bytes = new byte[BLOCKS * blockTokens * layout.rowBytes()];
            random.nextBytes(bytes);
            kv.plane(i / layout.planes(), i % layout.planes()).copyFrom(MemorySegment.ofArray(bytes));
        }
        return kv;
    }

    /** Permuted slots in which runs of neighbours occur. */
    private static int[] mapping(int slots, Random random) {
        int[] mapping = new int[slots];
        for (int i = 0; i < slots; i++) {
            mapping[i] = i;
        }
        for (int swaps = random.nextInt(slots + 1); swaps > 0; swaps--) {
            int a = random.nextInt(slots);
            int b = random.nextInt(slots);
            int slot = mapping[a];
            mapping[a] = mapping[b];
            mapping[b] = slot;
        }
        return mapping;
    }

    private static byte[][] bytes(PagedKv kv) {
        int planes = kv.layout().planes();
        byte[][] all = new byte[kv.layout().layers() * planes][];
        for (int i = 0; i < all.length; i++) {
            all[i] = kv.plane(i / planes, i % planes).toArray(ValueLayout.JAVA_BYTE);
        }
        return all;
    }

    private static byte[] plainGather(PagedKv kv, int[] mapping, int fromToken, int tokens) {
        KvLayout layout = kv.layout();
        byte[] object = new byte[(int) layout.objectBytes(tokens)];
        int at = 0;
        for (int plane = 0; plane < layout.planes(); plane++) {
            for (int layer = 0; layer < layout.layers(); layer++) {
                for (int token = fromToken; token < fromToken + tokens; token++) {
                    for (int i = 0; i < layout.rowBytes(); i++) {
                        long row = (long) mapping[token] * layout.rowBytes();
                        object[at++] = kv.plane(layer, plane).get(ValueLayout.JAVA_BYTE, row + i);
                    }
                }
            }
        }
        return object;
    }

    private static void plainScatter(
            KvLayout layout, byte[][] planes, int[] mapping, int fromToken, int tokens, byte[] object) {
        int at = 0;
        for (int plane = 0; plane < layout.planes(); plane++) {
            for (int layer = 0; layer < layout.layers(); layer++) {
                for (int token = fromToken; token < fromToken + tokens; token++) {
                    for (int i = 0; i < layout.rowBytes(); i++) {
                        planes[layer * layout.planes() + plane][mapping[token] * layout.rowBytes() + i] = object[at++];
                    }
                }
            }
        }
    }
}
