package io.kvtier.store;

import static io.kvtier.store.StoreFixture.BYTES;
import static io.kvtier.store.StoreFixture.config;
import static io.kvtier.store.StoreFixture.holds;
import static io.kvtier.store.StoreFixture.tier;
import static io.kvtier.store.StoreFixture.writer;
import static org.assertj.core.api.Assertions.assertThat;

import io.kvtier.object.ObjectKeys;
import io.kvtier.tier.StoreOutcome;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

/** Random operations of one thread on memory over one file tier, against two plain lists in order of use. */
class StorageManagerPropertyTest {
    private static final int KEYS = 12;

    @Property(tries = 12)
    void doesWhatTwoListsInOrderOfUseDo(
            @ForAll Random random,
            @ForAll @IntRange(min = 1, max = 4) int memoryObjects,
            @ForAll @IntRange(min = 1, max = 8) int tierObjects)
            throws IOException {
        Path folder = Files.createTempDirectory("kvtier-test");
        try (StorageManager manager = StorageManager.open(config(memoryObjects, tier(folder, tierObjects)))) {
            Run run = new Run(manager, new Lru(memoryObjects), new Lru(tierObjects));
            for (int step = 0; step < 120; step++) {
                run.step(random);
                run.compareEverything();
            }
            run.letGo();
            run.compareCounts();
        } finally {
            delete(folder);
        }
    }

    /** Keys, the last used first; those that are held stay. */
    private static final class Lru {
        private final int capacity;
        private final List<Integer> order = new ArrayList<>();
        private final Set<Integer> held = new HashSet<>();

        Lru(int capacity) {
            this.capacity = capacity;
        }

        boolean contains(int key) {
            return order.contains(key);
        }

        boolean touch(int key) {
            if (!order.remove((Integer) key)) {
                return false;
            }
            order.addFirst(key);
            return true;
        }

        boolean add(int key) {
            if (order.size() == capacity) {
                int victim = order.size() - 1;
                while (victim >= 0 && held.contains(order.get(victim))) {
                    victim--;
                }
                if (victim < 0) {
                    return false;
                }
                order.remove(victim);
            }
            order.addFirst(key);
            return true;
        }
    }

    private record Run(StorageManager manager, Lru memory, Lru tier, ObjectLeases held) {
        Run(StorageManager manager, Lru memory, Lru tier) {
            this(manager, memory, tier, new ObjectLeases());
        }

        void step(Random random) {
            int key = random.nextInt(KEYS);
            switch (random.nextInt(10)) {
                case 0, 1, 2, 3 -> store(key);
                case 4 -> read(key);
                case 5, 6 -> promote(key);
                case 7 -> touch(key);
                case 8 -> hold(random.ints(3, 0, KEYS).toArray());
                default -> letGo();
            }
        }

        void store(int key) {
            boolean present = memory.touch(key);
            boolean stored = present || memory.add(key);
            if (stored && !tier.touch(key)) {
                tier.add(key);
            }
            StoreOutcome expected =
                    present ? StoreOutcome.PRESENT : stored ? StoreOutcome.STORED : StoreOutcome.NO_SPACE;
            assertThat(manager.store(keys(key), 0, BYTES, writer(key))).isEqualTo(expected);
        }

        void read(int key) {
            try (ObjectLeases leases = new ObjectLeases()) {
                if (manager.lookup(keys(key), leases) == 1) {
                    MemorySegment bytes = MemorySegment.ofArray(new byte[BYTES]);
                    assertThat(manager.read(leases, 0, bytes)).isTrue();
                    assertThat(holds(bytes, key)).isTrue();
                }
            }
        }

        void promote(int key) {
            ObjectKeys keys = keys(key);
            try (ObjectLeases leases = new ObjectLeases()) {
                if (manager.lookup(keys, leases) == 1) {
                    boolean inMemory = memory.contains(key) || memory.add(key);
                    assertThat(manager.promote(keys, leases, 0))
                            .isEqualTo(inMemory ? Promotion.IN_MEMORY : Promotion.NO_SPACE);
                    assertThat(inMemory ? holds(manager.segment(leases, 0), key) : leases.tier(0) == 1)
                            .isTrue();
                }
            }
        }

        void touch(int key) {
            memory.touch(key);
            tier.touch(key);
            manager.touch(keys(key), 0);
        }

        void hold(int... numbers) {
            letGo();
            int length = manager.lookup(keys(numbers), held);
            for (int i = 0; i < length; i++) {
                (held.tier(i) == ObjectLeases.MEMORY ? memory : tier).held.add(numbers[i]);
            }
        }

        void letGo() {
            held.close();
            memory.held.clear();
            tier.held.clear();
        }

        void compareEverything() {
            int[] all = Stream.concat(memory.order.stream(), tier.order.stream())
                    .mapToInt(key -> key)
                    .toArray();
            for (int time = 0; time < 2; time++) {
                try (ObjectLeases leases = new ObjectLeases()) {
                    assertThat(manager.lookup(keys(all), leases)).isEqualTo(all.length);
                    for (int i = 0; i < all.length; i++) {
                        assertThat(leases.tier(i)).isEqualTo(memory.contains(all[i]) ? ObjectLeases.MEMORY : 1);
                    }
                }
            }
            for (int key = 0; key < KEYS; key++) {
                assertThat(manager.contains(keys(key), 0)).isEqualTo(memory.contains(key) || tier.contains(key));
            }
        }

        void compareCounts() {
            MemoryStatus status = manager.memoryStatus();
            assertThat(status.objects()).isEqualTo(memory.order.size());
            assertThat(status.objects() + status.free()).isEqualTo(status.capacity());
            assertThat(status.leases() + status.staged()).isZero();
            assertThat(manager.tierStatus().getFirst().objects()).isEqualTo(tier.order.size());
            assertThat(manager.tierStatus().getFirst().leases()).isZero();
        }

        private ObjectKeys keys(int... numbers) {
            return StoreFixture.keys(manager.keySpaces(), numbers);
        }
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            files.sorted(Comparator.reverseOrder()).forEach(StorageManagerPropertyTest::deleteOne);
        }
    }

    private static void deleteOne(Path path) {
        try {
            Files.delete(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
