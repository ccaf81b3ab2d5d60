package io.kvtier.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class BitmapTest {
    @Test
    void bitZeroIsTheLeastSignificantOfTheFirstByte() {
        byte[] bytes = new byte[16];
        Bitmap bitmap = Bitmap.view(MemorySegment.ofArray(bytes), 70);
        bitmap.set(0);
        bitmap.set(9);
        bitmap.set(69);
        assertThat(bytes).containsExactly(1, 2, 0, 0, 0, 0, 0, 0, 32, 0, 0, 0, 0, 0, 0, 0);
    }

    @Test
    void prefixHasLeadingOnes() {
        assertThat(Bitmap.ofPrefix(5, 3)).hasToString("11100");
        assertThat(Bitmap.ofPrefix(5, 0)).hasToString("00000");
        assertThat(Bitmap.ofPrefix(5, 5)).hasToString("11111");
    }

    @ParameterizedTest
    @EnumSource
    void emptyBitmapHasNothing(SampleBits.Kind kind) {
        Bitmap empty = SampleBits.zeros(kind, 0).bitmap;
        empty.not();
        empty.erode(1);
        empty.and(Bitmap.ofSize(0));
        assertThat(empty.isEmpty()).isTrue();
        assertThat(empty.count()).isZero();
        assertThat(empty.leadingOnes()).isZero();
        assertThat(empty.highestSet()).isEqualTo(Bitmap.NONE);
        assertThat(empty).hasToString("");
    }

    @Test
    void viewAndMemoryAreOne() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(16, 8);
            Bitmap bitmap = Bitmap.view(memory, 100);
            memory.set(ValueLayout.JAVA_BYTE, 12, (byte) 8);
            assertThat(bitmap.nextSet(0)).isEqualTo(99);
            bitmap.flip(99);
            assertThat(memory.get(ValueLayout.JAVA_BYTE, 12)).isZero();
        }
    }

    @Test
    void viewTouchesOnlyItsOwnWords() {
        byte[] bytes = new byte[32];
        bytes[23] = 5;
        Bitmap.view(MemorySegment.ofArray(bytes).asSlice(8), 64).setAll();
        assertThat(bytes[7]).isZero();
        assertThat(bytes[8]).isEqualTo((byte) -1);
        assertThat(bytes[15]).isEqualTo((byte) -1);
        assertThat(bytes[16]).isZero();
        assertThat(bytes[23]).isEqualTo((byte) 5);
    }

    @Test
    void viewOfAPartOverlapsTheWhole() {
        MemorySegment memory = MemorySegment.ofArray(new long[4]);
        Bitmap whole = Bitmap.view(memory, 256);
        assertThat(whole.overlaps(Bitmap.view(memory.asSlice(8), 100))).isTrue();
        assertThat(Bitmap.view(memory, 128).overlaps(Bitmap.view(memory.asSlice(16), 128)))
                .isFalse();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment foreign = arena.allocate(32);
            assertThat(Bitmap.view(foreign, 256).overlaps(Bitmap.view(foreign.asSlice(24), 64)))
                    .isTrue();
            assertThat(Bitmap.view(foreign, 256).overlaps(whole)).isFalse();
        }
    }

    @Test
    void memoryThatIsTooSmallIsRefused() {
        MemorySegment memory = MemorySegment.ofArray(new byte[15]);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Bitmap.view(memory, 65))
                .withMessage("65 bits need 16 bytes of memory, got 15");
        assertThat(Bitmap.view(memory, 64).size()).isEqualTo(64);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 62, 63})
    void bitsPastTheEndAreRefused(int size) {
        MemorySegment memory = MemorySegment.ofArray(new long[] {1L << 63});
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Bitmap.view(memory, size))
                .withMessage("bits past the end must be 0, but of " + size + " bits, bit 63 of the memory is 1");
        assertThat(Bitmap.view(memory, 64).highestSet()).isEqualTo(63);
    }

    @Test
    void negativeSizesAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Bitmap.ofSize(-1))
                .withMessage("a bitmap has at least 0 bits, got -1");
        assertThatIllegalArgumentException().isThrownBy(() -> Bitmap.byteSize(-1));
        assertThatIllegalArgumentException().isThrownBy(() -> Bitmap.view(MemorySegment.NULL, -1));
        assertThat(Bitmap.byteSize(Integer.MAX_VALUE)).isEqualTo(1L << 28);
    }

    @Test
    void otherTextIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Bitmap.parse("01x"))
                .withMessage("a bit is 0 or 1, got 'x' at 2");
    }

    @ParameterizedTest
    @EnumSource
    void indexesOutOfRangeAreRefused(SampleBits.Kind kind) {
        SampleBits sample = SampleBits.zeros(kind, 65);
        List<BiConsumer<Bitmap, Integer>> operations = List.of(
                Bitmap::get,
                Bitmap::set,
                Bitmap::clear,
                Bitmap::flip,
                (bits, i) -> bits.setEach(new int[] {3, i}, 0, 2));
        for (BiConsumer<Bitmap, Integer> operation : operations) {
            for (int index : new int[] {-1, 65, 127, 128, Integer.MIN_VALUE, Integer.MAX_VALUE}) {
                outOfBounds(() -> operation.accept(sample.bitmap, index), Integer.toString(index), "65");
            }
        }
        for (int from : new int[] {-1, 66, Integer.MAX_VALUE}) {
            outOfBounds(() -> sample.bitmap.nextSet(from), Integer.toString(from), "65");
            outOfBounds(() -> sample.bitmap.nextClear(from), Integer.toString(from), "65");
        }
        for (int from : new int[] {-2, 65, Integer.MAX_VALUE}) {
            outOfBounds(() -> sample.bitmap.previousSet(from), Integer.toString(from), "65");
            outOfBounds(() -> sample.bitmap.previousClear(from), Integer.toString(from), "65");
        }
        sample.check();
    }

    @Test
    void rangesOutOfRangeAreRefused() {
        SampleBits sample = SampleBits.zeros(SampleBits.Kind.HEAP, 65);
        for (int[] range : new int[][] {{-1, 3}, {0, 66}, {5, 4}, {65, 64}, {66, 66}}) {
            String from = Integer.toString(range[0]);
            String to = Integer.toString(range[1]);
            outOfBounds(() -> sample.bitmap.setRange(range[0], range[1]), from, to);
            outOfBounds(() -> sample.bitmap.clearRange(range[0], range[1]), from, to);
            outOfBounds(() -> sample.bitmap.flipRange(range[0], range[1]), from, to);
            outOfBounds(() -> sample.bitmap.countRange(range[0], range[1]), from, to);
        }
        outOfBounds(() -> Bitmap.ofPrefix(65, 66), "66", "65");
        sample.check();
    }

    @Test
    void unequalSizesAreRefused() {
        Bitmap bitmap = Bitmap.ofSize(64);
        Bitmap other = Bitmap.ofPrefix(65, 65);
        List<BiConsumer<Bitmap, Bitmap>> operations = List.of(
                Bitmap::and,
                Bitmap::andNot,
                Bitmap::or,
                Bitmap::xor,
                Bitmap::copyFrom,
                Bitmap::intersects,
                Bitmap::contains);
        for (BiConsumer<Bitmap, Bitmap> operation : operations) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> operation.accept(bitmap, other))
                    .withMessage("two bitmaps must be of equal size, got 64 and 65 bits");
        }
        assertThat(bitmap.isEmpty()).isTrue();
    }

    @Test
    void runOfNoBitIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Bitmap.ofSize(3).erode(0))
                .withMessage("a run has at least 1 bit, got 0");
    }

    @Test
    void gatherThatDoesNotFitChangesNothing() {
        int[] target = new int[4];
        outOfBounds(() -> Bitmap.ofPrefix(65, 4).gather(target, 1), "1", "4");
        assertThat(target).containsOnly(0);
        assertThat(Bitmap.ofPrefix(65, 4).gather(target, 0)).isEqualTo(4);
        assertThat(target).containsExactly(0, 1, 2, 3);
    }

    @Test
    void itemsAndPositionsAreAsManyAsBits() {
        List<String> chosen = new ArrayList<>();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Bitmap.ofPrefix(2, 2).gather(List.of("a"), chosen))
                .withMessage("there must be as many items as bits, got 1 for 2");
        assertThat(chosen).isEmpty();
        Bitmap target = Bitmap.ofSize(5);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> target.scatter(Bitmap.ofPrefix(2, 2), new int[] {1, 2, 3}))
                .withMessage("there must be as many positions as bits, got 3 for 2");
        outOfBounds(() -> target.scatter(Bitmap.ofPrefix(2, 2), new int[] {1, 5}), "5", "5");
        assertThat(target.isEmpty()).isTrue();
    }

    @Test
    void closedMemoryIsRefused() {
        Bitmap bitmap;
        MemorySegment memory;
        try (Arena arena = Arena.ofShared()) {
            memory = arena.allocate(512, 8);
            bitmap = Bitmap.view(memory, 4000);
        }
        Bitmap heap = Bitmap.ofSize(4000);
        List<Consumer<Bitmap>> operations = List.of(
                bits -> bits.get(0),
                bits -> bits.set(3999),
                bits -> bits.setRange(10, 1000),
                bits -> bits.and(heap),
                heap::and,
                heap::copyFrom,
                Bitmap::not,
                Bitmap::count,
                Bitmap::leadingOnes,
                Bitmap::highestSet,
                Bitmap::hashCode,
                bits -> bits.equals(heap),
                bits -> bits.erode(3),
                bits -> bits.forEach(_ -> {}),
                Bitmap::copy);
        for (Consumer<Bitmap> operation : operations) {
            assertThatIllegalStateException().isThrownBy(() -> operation.accept(bitmap));
        }
        assertThat(heap.isEmpty()).isTrue();
        assertThatIllegalStateException()
                .isThrownBy(() -> Bitmap.view(memory, 4096))
                .withMessage("the memory for 4096 bits is closed");
    }

    @Test
    void readOnlyMemoryIsReadAndNotWritten() {
        MemorySegment memory = Arena.ofAuto().allocate(8, 8);
        memory.set(ValueLayout.JAVA_LONG, 0, 5);
        Bitmap bitmap = Bitmap.view(memory.asReadOnly(), 3);
        assertThat(bitmap).hasToString("101");
        List<Consumer<Bitmap>> changes = List.of(
                bits -> bits.set(1),
                bits -> bits.clear(0),
                bits -> bits.flip(0),
                bits -> bits.setRange(0, 2),
                bits -> bits.clearRange(0, 2),
                bits -> bits.flipRange(0, 2),
                bits -> bits.setEach(new int[] {1}, 0, 1),
                bits -> bits.scatter(Bitmap.ofPrefix(1, 1), new int[] {1}),
                bits -> bits.and(Bitmap.ofSize(3)),
                bits -> bits.or(Bitmap.ofPrefix(3, 3)),
                bits -> bits.copyFrom(Bitmap.ofSize(3)),
                bits -> bits.erode(2),
                Bitmap::not);
        for (Consumer<Bitmap> change : changes) {
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> change.accept(bitmap))
                    .withMessage("the memory of these 3 bits is read-only");
        }
        assertThat(memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(5);
    }

    @Test
    void memoryOfOtherKindsIsRefused() {
        List<MemorySegment> others = List.of(
                MemorySegment.ofArray(new int[4]),
                MemorySegment.ofArray(new char[8]),
                MemorySegment.ofArray(new long[2]).asSlice(4, 8),
                MemorySegment.ofArray(new long[2]).asReadOnly(),
                MemorySegment.ofArray(new byte[16]).asReadOnly());
        for (MemorySegment other : others) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Bitmap.view(other, 64))
                    .withMessageContaining("native memory, bytes of an array or whole longs of an array")
                    .withMessageContaining("MemorySegment");
        }
    }

    @Test
    void numberHasTheFirstBitLowest() {
        Bitmap bitmap = Bitmap.ofSize(130);
        bitmap.set(3);
        bitmap.setRange(60, 70);
        bitmap.set(129);
        assertThat(bitmap.bits(0, 64)).isEqualTo(0xF000_0000_0000_0008L);
        assertThat(bitmap.bits(3, 1)).isEqualTo(1);
        assertThat(bitmap.bits(59, 64)).isEqualTo(0b111_1111_1110L);
        assertThat(bitmap.bits(127, 3)).isEqualTo(4);
        outOfBounds(() -> bitmap.bits(127, 4), "127", "130");
        outOfBounds(() -> bitmap.bits(-1, 4), "-1", "130");
        for (int count : new int[] {-1, 0, 65}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> bitmap.bits(0, count))
                    .withMessage("a number has 1 to 64 bits, got " + count);
        }
    }

    private static void outOfBounds(ThrowingCallable call, String asked, String found) {
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(call)
                .withMessageContaining(asked)
                .withMessageContaining(found);
    }
}
