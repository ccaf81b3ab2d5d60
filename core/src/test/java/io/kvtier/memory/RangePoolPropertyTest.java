package io.kvtier.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.constraints.LongRange;

/** A pool against a plain sorted map of the ranges that are in use. */
class RangePoolPropertyTest {
    @Property(shrinking = ShrinkingMode.OFF)
    void behavesAsASetOfRanges(@ForAll @LongRange(min = 1, max = 5_000) long capacity, @ForAll long seed) {
        Random random = new Random(seed);
        try (Slab slab = Slab.allocate(capacity)) {
            Model model = new Model(slab);
            for (int step = 0; step < 300; step++) {
                switch (random.nextInt(5)) {
                    case 0, 1 -> model.allocate(size(random, capacity), alignment(random));
                    case 2 -> model.allocateBatch(random);
                    case 3 -> model.freeOne(random);
                    default -> model.freeDead(random);
                }
                model.check();
            }
            model.freeAll();
        }
    }

    private static long size(Random random, long capacity) {
        return 1 + (long) Math.exp(random.nextDouble() * Math.log(capacity + 2.0));
    }

    private static long alignment(Random random) {
        return random.nextBoolean() ? 1 : 1L << random.nextInt(8);
    }

    private static final class Model {
        private final long base;
        private final long capacity;
        private final RangePool pool;
        private final TreeMap<Long, Long> sizes = new TreeMap<>();
        private final List<Long> handles = new ArrayList<>();
        private final List<Long> dead = new ArrayList<>();

        Model(Slab slab) {
            this.base = slab.segment().address();
            this.capacity = slab.byteSize();
            this.pool = new RangePool(slab);
        }

        void allocate(long bytes, long alignment) {
            long handle = pool.allocate(bytes, alignment);
            assertThat(handle != RangePool.NONE).as("fits").isEqualTo(fits(bytes, alignment));
            if (handle != RangePool.NONE) {
                add(handle, bytes, alignment);
            }
        }

        void allocateBatch(Random random) {
            long[] bytes = random.longs(random.nextInt(4), 1, capacity / 3 + 2).toArray();
            long[] got = new long[bytes.length];
            long freeBefore = pool.free();
            if (pool.allocate(bytes, 8, got)) {
                for (int i = 0; i < bytes.length; i++) {
                    add(got[i], bytes[i], 8);
                }
            } else {
                assertThat(got).containsOnly(0);
                assertThat(pool.free()).isEqualTo(freeBefore);
            }
        }

        void freeOne(Random random) {
            if (!handles.isEmpty()) {
                long handle = handles.remove(random.nextInt(handles.size()));
                sizes.remove(pool.offset(handle));
                pool.free(handle);
                dead.add(handle);
            }
        }

        void freeDead(Random random) {
            if (!dead.isEmpty()) {
                long handle = dead.get(random.nextInt(dead.size()));
                assertThatIllegalStateException().isThrownBy(() -> pool.free(handle));
                assertThatIllegalStateException().isThrownBy(() -> pool.range(handle));
            }
        }

        void check() {
            long used = sizes.values().stream().mapToLong(Long::longValue).sum();
            assertThat(pool.used()).isEqualTo(used);
            assertThat(pool.free()).isEqualTo(capacity - used);
            assertThat(pool.largestFree()).isEqualTo(largestGap());
        }

        void freeAll() {
            handles.forEach(pool::free);
            assertThat(pool.free()).isEqualTo(capacity);
            assertThat(pool.largestFree()).isEqualTo(capacity);
        }

        private void add(long handle, long bytes, long alignment) {
            long offset = pool.offset(handle);
            assertThat(pool.byteSize(handle)).isEqualTo(bytes);
            assertThat((base + offset) % alignment).isZero();
            Map.Entry<Long, Long> lower = sizes.floorEntry(offset);
            assertThat(lower == null || lower.getKey() + lower.getValue() <= offset)
                    .isTrue();
            Long higher = sizes.ceilingKey(offset);
            assertThat(offset + bytes).isLessThanOrEqualTo(higher == null ? capacity : higher);
            sizes.put(offset, bytes);
            handles.add(handle);
        }

        private boolean fits(long bytes, long alignment) {
            long start = 0;
            for (Map.Entry<Long, Long> used : sizes.entrySet()) {
                if (fits(start, used.getKey(), bytes, alignment)) {
                    return true;
                }
                start = used.getKey() + used.getValue();
            }
            return fits(start, capacity, bytes, alignment);
        }

        private boolean fits(long start, long end, long bytes, long alignment) {
            long aligned = (base + start + alignment - 1) / alignment * alignment - base;
            return aligned + bytes <= end;
        }

        private long largestGap() {
            long largest = 0;
            long start = 0;
            for (Map.Entry<Long, Long> used : sizes.entrySet()) {
                largest = Math.max(largest, used.getKey() - start);
                start = used.getKey() + used.getValue();
            }
            return Math.max(largest, capacity - start);
        }
    }
}
