package io.kvtier.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Every operation against {@link BitSet}, over every kind of memory. */
class BitmapPropertyTest {
    @Provide
    Arbitrary<Integer> sizes() {
        return Arbitraries.oneOf(
                Arbitraries.of(0, 1, 63, 64, 65, 127, 128, 129, 4096),
                Arbitraries.integers().between(0, 700));
    }

    @Property
    void singleBits(@ForAll("sizes") int size, @ForAll long seed) {
        Random random = new Random(seed);
        SampleBits sample = SampleBits.random(random, size);
        sample.check();
        for (int step = 0; step < 20 && size > 0; step++) {
            int i = random.nextInt(size);
            switch (random.nextInt(3)) {
                case 0 -> sample.change(bits -> bits.set(i), bits -> bits.set(i));
                case 1 -> sample.change(bits -> bits.clear(i), bits -> bits.clear(i));
                default -> sample.change(bits -> bits.flip(i), bits -> bits.flip(i));
            }
        }
    }

    @Property
    void ranges(@ForAll("sizes") int size, @ForAll long seed) {
        Random random = new Random(seed);
        SampleBits sample = SampleBits.random(random, size);
        for (int step = 0; step < 12; step++) {
            int from = random.nextInt(size + 1);
            int to = from + random.nextInt(size - from + 1);
            assertThat(sample.bitmap.countRange(from, to))
                    .isEqualTo(sample.model.get(from, to).cardinality());
            switch (random.nextInt(3)) {
                case 0 -> sample.change(bits -> bits.setRange(from, to), bits -> bits.set(from, to));
                case 1 -> sample.change(bits -> bits.clearRange(from, to), bits -> bits.clear(from, to));
                default -> sample.change(bits -> bits.flipRange(from, to), bits -> bits.flip(from, to));
            }
        }
    }

    @Property
    void wholes(@ForAll("sizes") int size, @ForAll long seed) {
        Random random = new Random(seed);
        SampleBits.random(random, size).change(Bitmap::not, bits -> bits.flip(0, size));
        SampleBits.random(random, size).change(Bitmap::setAll, bits -> bits.set(0, size));
        SampleBits.random(random, size).change(Bitmap::clearAll, BitSet::clear);
    }

    @Property
    void twoBitmaps(@ForAll("sizes") int size, @ForAll long seed) {
        Random random = new Random(seed);
        combine(random, size, Bitmap::and, BitSet::and);
        combine(random, size, Bitmap::andNot, BitSet::andNot);
        combine(random, size, Bitmap::or, BitSet::or);
        combine(random, size, Bitmap::xor, BitSet::xor);
        combine(random, size, Bitmap::copyFrom, (target, from) -> {
            target.clear();
            target.or(from);
        });
    }

    private static void combine(
            Random random, int size, BiConsumer<Bitmap, Bitmap> ours, BiConsumer<BitSet, BitSet> theirs) {
        SampleBits target = SampleBits.random(random, size);
        SampleBits operand = SampleBits.random(random, size);
        target.change(bits -> ours.accept(bits, operand.bitmap), bits -> theirs.accept(bits, operand.model));
        operand.check();
        target.change(bits -> ours.accept(bits, bits), bits -> theirs.accept(bits, (BitSet) bits.clone()));
    }

    @Property
    void comparisons(@ForAll("sizes") int size, @ForAll long seed) {
        Random random = new Random(seed);
        SampleBits a = SampleBits.random(random, size);
        SampleBits b = SampleBits.random(random, size);
        SampleBits part = SampleBits.random(random, size);
        part.bitmap.and(a.bitmap);
        part.model.and(a.model);
        for (SampleBits other : List.of(b, part)) {
            BitSet missing = (BitSet) other.model.clone();
            missing.andNot(a.model);
            assertThat(a.bitmap.intersects(other.bitmap)).isEqualTo(a.model.intersects(other.model));
            assertThat(a.bitmap.contains(other.bitmap)).isEqualTo(missing.isEmpty());
            assertThat(a.bitmap.equals(other.bitmap)).isEqualTo(a.model.equals(other.model));
            assertThat(a.bitmap.overlaps(other.bitmap)).isFalse();
        }
        Bitmap copy = a.bitmap.copy();
        assertThat(copy).isEqualTo(a.bitmap).hasSameHashCodeAs(a.bitmap);
        assertThat(copy.overlaps(a.bitmap)).isFalse();
        assertThat(a.bitmap.overlaps(a.bitmap)).isEqualTo(size > 0);
        if (size > 0) {
            copy.flip(random.nextInt(size));
            assertThat(copy).isNotEqualTo(a.bitmap);
            a.check();
        }
        assertThat(a.bitmap).isNotEqualTo(Bitmap.ofSize(size + 1)).isNotEqualTo("bits");
    }

    @Property
    void searches(@ForAll("sizes") int size, @ForAll long seed) {
        SampleBits sample = SampleBits.random(new Random(seed), size);
        for (int i = 0; i <= size; i++) {
            int clear = sample.model.nextClearBit(i);
            assertThat(sample.bitmap.nextSet(i)).as("next 1 from %d", i).isEqualTo(sample.model.nextSetBit(i));
            assertThat(sample.bitmap.nextClear(i)).as("next 0 from %d", i).isEqualTo(clear < size ? clear : -1);
            assertThat(sample.bitmap.previousSet(i - 1)).isEqualTo(sample.model.previousSetBit(i - 1));
            assertThat(sample.bitmap.previousClear(i - 1)).isEqualTo(sample.model.previousClearBit(i - 1));
        }
    }

    @Property
    void numbers(@ForAll("sizes") int size, @ForAll long seed) {
        Random random = new Random(seed);
        SampleBits sample = SampleBits.random(random, size);
        for (int step = 0; step < 30 && size > 0; step++) {
            int from = random.nextInt(size);
            int count = 1 + random.nextInt(Math.min(Long.SIZE, size - from));
            long[] expected = sample.model.get(from, from + count).toLongArray();
            assertThat(sample.bitmap.bits(from, count)).isEqualTo(expected.length == 0 ? 0 : expected[0]);
        }
    }

    @Property
    void counts(@ForAll("sizes") int size, @ForAll long seed) {
        SampleBits sample = SampleBits.random(new Random(seed), size);
        BitSet zeros = (BitSet) sample.model.clone();
        zeros.flip(0, size);
        assertThat(sample.bitmap.count()).isEqualTo(sample.model.cardinality());
        assertThat(sample.bitmap.isEmpty()).isEqualTo(sample.model.isEmpty());
        assertThat(sample.bitmap.highestSet()).isEqualTo(sample.model.length() - 1);
        assertThat(sample.bitmap.leadingOnes()).isEqualTo(sample.model.nextClearBit(0));
        assertThat(sample.bitmap.leadingZeros()).isEqualTo(zeros.nextClearBit(0));
        assertThat(sample.bitmap.trailingZeros()).isEqualTo(size - sample.model.length());
        assertThat(sample.bitmap.trailingOnes()).isEqualTo(size - zeros.length());
    }

    @Property
    void iteration(@ForAll("sizes") int size, @ForAll long seed) {
        SampleBits sample = SampleBits.random(new Random(seed), size);
        int[] expected = sample.model.stream().toArray();
        List<Integer> seen = new ArrayList<>();
        sample.bitmap.forEach(seen::add);
        assertThat(seen).containsExactly(IntStream.of(expected).boxed().toArray(Integer[]::new));

        int[] gathered = new int[expected.length + 3];
        assertThat(sample.bitmap.gather(gathered, 2)).isEqualTo(expected.length);
        assertThat(IntStream.of(gathered).skip(2).limit(expected.length).toArray())
                .isEqualTo(expected);
        assertThat(gathered[0] + gathered[1] + gathered[expected.length + 2]).isZero();

        List<String> items = IntStream.range(0, size).mapToObj(i -> "item " + i).toList();
        List<Object> chosen = new ArrayList<>();
        sample.bitmap.gather(items, chosen);
        assertThat(chosen).isEqualTo(IntStream.of(expected).mapToObj(items::get).toList());
    }

    @Property
    void manyAtOnce(@ForAll("sizes") int size, @ForAll long seed) {
        Random random = new Random(seed);
        SampleBits sample = SampleBits.random(random, size);
        int[] indices = random.ints(size == 0 ? 0 : 10, 0, Math.max(1, size)).toArray();
        int from = indices.length / 3;
        sample.change(
                bits -> bits.setEach(indices, from, indices.length - from),
                bits -> IntStream.of(indices).skip(from).forEach(bits::set));

        SampleBits part = SampleBits.random(random, random.nextInt(size + 1));
        int[] positions = random.ints(part.size, 0, Math.max(1, size)).toArray();
        for (int i = part.model.nextClearBit(0); i < part.size; i = part.model.nextClearBit(i + 1)) {
            positions[i] = -7;
        }
        sample.change(
                bits -> bits.scatter(part.bitmap, positions),
                bits -> part.model.stream().map(i -> positions[i]).forEach(bits::set));
    }

    @Property
    void erosion(@ForAll("sizes") int size, @ForAll long seed) {
        Random random = new Random(seed);
        for (int run : new int[] {1, 2, 1 + random.nextInt(size + 5), 1 + random.nextInt(200), Integer.MAX_VALUE}) {
            SampleBits sample =
                    random.nextBoolean() ? SampleBits.random(random, size) : SampleBits.dense(random, size, 97);
            sample.change(bits -> bits.erode(run), bits -> {
                BitSet before = (BitSet) bits.clone();
                for (int i = 0; i < size; i++) {
                    int first = Math.max(0, (int) Math.max(i - (long) run + 1, 0));
                    bits.set(i, before.nextClearBit(first) > i);
                }
            });
        }
    }

    @Property
    void textComesBack(@ForAll("sizes") int size, @ForAll long seed) {
        SampleBits sample = SampleBits.random(new Random(seed), size);
        String text = sample.bitmap.toString();
        assertThat(text).hasSize(size);
        for (int i = 0; i < size; i++) {
            assertThat(text.charAt(i)).isEqualTo(sample.model.get(i) ? '1' : '0');
        }
        assertThat(Bitmap.parse(text)).isEqualTo(sample.bitmap);
    }
}
