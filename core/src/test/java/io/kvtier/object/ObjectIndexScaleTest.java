package io.kvtier.object;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Large indexes, keys that collide, and look-ups while the index is changed. */
class ObjectIndexScaleTest {
    private static final int STABLE = 2_000;
    private static final int CHANGING = 3_000;
    private static final int CHANGES = 300_000;
    private static final int READERS = 2;

    private final KeySpaces spaces = new KeySpaces();
    private final ObjectIndex index = new ObjectIndex();

    @Test
    void anObjectTakesAtMost80BytesWhereverTheTableIsBetweenTwoSplits() {
        ObjectKeys keys = randomKeys(1_000_000, 1);
        for (int i = 0; i < keys.size(); i++) {
            add(keys, i);
            if (i >= 100_000 && i % 10_000 == 0) {
                assertThat((double) index.bytes() / index.size())
                        .as("bytes for each of " + index.size())
                        .isLessThanOrEqualTo(80);
            }
        }
        assertFound(keys, true);
        assertFound(randomKeys(100_000, 2), false);
    }

    @Test
    void keysWithTheSame16BytesAreAllFoundAndRemoved() {
        ObjectKeys keys = spaces.keys(SampleKeys.SPACE);
        for (int i = 0; i < 5_000; i++) {
            byte[] hash = new byte[32];
            hash[30] = (byte) i;
            hash[31] = (byte) (i >>> 8);
            keys.add(ChunkHash.of(hash));
        }
        IntStream.range(0, keys.size()).forEach(i -> add(keys, i));
        assertFound(keys, true);
        for (int i = 0; i < keys.size(); i++) {
            index.remove(index.find(keys, i));
        }
        assertFound(keys, false);
        assertThat(index.size()).isZero();
    }

    @Test
    void aRunOfLeasesEndsAtTheFirstObjectThatIsNotResident() {
        ObjectKeys keys = randomKeys(500, 3);
        IntStream.range(0, 300).forEach(i -> add(keys, i));
        index.retire(index.find(keys, 200));
        long[] leases = new long[500];
        assertThat(index.leaseRun(keys, 0, leases)).isEqualTo(200);
        assertThat(index.leaseRun(keys, 201, leases)).isEqualTo(99);
        assertThat(index.leaseRun(keys, 450, leases)).isZero();
        assertThat(index.leaseCount()).isEqualTo(299);
        assertThat(index.leases(index.find(keys, 199))).isEqualTo(1);
    }

    /** Objects that stay are found at each moment, and a lease is on the object that was asked for. */
    @Test
    void readersFindWhatIsThereWhileTheIndexIsChanged() throws Exception {
        long seed = System.nanoTime();
        ObjectKeys keys = randomKeys(STABLE + CHANGING, seed);
        IntStream.range(0, STABLE).forEach(i -> add(keys, i));
        AtomicBoolean done = new AtomicBoolean();
        try (ExecutorService threads = Executors.newFixedThreadPool(READERS)) {
            List<Future<Long>> readers = new ArrayList<>();
            for (int i = 0; i < READERS; i++) {
                ObjectKeys own = randomKeys(STABLE + CHANGING, seed);
                readers.add(threads.submit(() -> read(own, done)));
            }
            try {
                change(keys, new SplittableRandom(seed));
            } finally {
                done.set(true);
            }
            for (Future<Long> reader : readers) {
                assertThat(reader.get()).as("leases taken, seed " + seed).isPositive();
            }
        }
        assertThat(index.leaseCount()).isZero();
    }

    private void change(ObjectKeys keys, SplittableRandom random) {
        List<Integer> hidden = new ArrayList<>();
        for (int step = 0; step < CHANGES; step++) {
            int i = STABLE + random.nextInt(CHANGING);
            int slot = index.findResident(keys, i);
            if (slot == ObjectIndex.NONE) {
                add(keys, i);
            } else {
                index.retire(slot);
                index.detach(slot);
                hidden.add(slot);
            }
            hidden.removeIf(this::removeIfFree);
        }
        while (!hidden.isEmpty()) {
            hidden.removeIf(this::removeIfFree);
        }
    }

    private boolean removeIfFree(int slot) {
        boolean free = index.leases(slot) == 0;
        if (free) {
            index.remove(slot);
        }
        return free;
    }

    private long read(ObjectKeys keys, AtomicBoolean done) {
        int[] found = new int[STABLE];
        long leases = 0;
        byte[] hash = new byte[32];
        SplittableRandom random = new SplittableRandom();
        while (!done.get()) {
            index.findResident(keys, 0, STABLE, found);
            assertThat(Arrays.stream(found).filter(slot -> slot == ObjectIndex.NONE))
                    .isEmpty();
            for (int n = 0; n < 200; n++) {
                int i = random.nextInt(keys.size());
                long lease = index.lease(keys, i);
                if (lease != ObjectIndex.NO_LEASE) {
                    index.copyHash(ObjectIndex.slot(lease), hash);
                    assertThat(index.length(ObjectIndex.slot(lease))).isEqualTo(1 + i);
                    assertThat(ChunkHash.of(hash)).isEqualTo(keys.key(i).chunkHash());
                    index.release(lease);
                    leases++;
                }
            }
        }
        return leases;
    }

    private void add(ObjectKeys keys, int i) {
        int slot = index.stage(keys, i);
        assertThat(index.link(slot)).isTrue();
        index.publish(slot, 1 + i, i);
    }

    private void assertFound(ObjectKeys keys, boolean expected) {
        int[] found = new int[keys.size()];
        index.findResident(keys, 0, keys.size(), found);
        for (int i = 0; i < found.length; i++) {
            boolean right = expected
                    ? found[i] != ObjectIndex.NONE && index.checksum(found[i]) == i
                    : found[i] == ObjectIndex.NONE;
            assertThat(right).as("key " + i + " has slot " + found[i]).isTrue();
        }
    }

    private ObjectKeys randomKeys(int count, long seed) {
        ObjectKeys keys = spaces.keys(SampleKeys.SPACE);
        byte[] hashes = keys.resize(count);
        byte[] random = new byte[32 * count];
        new SplittableRandom(seed).nextBytes(random);
        System.arraycopy(random, 0, hashes, 0, random.length);
        return keys;
    }
}
