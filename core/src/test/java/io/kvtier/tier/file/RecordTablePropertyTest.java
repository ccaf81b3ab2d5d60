package io.kvtier.tier.file;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvtier.object.KeySpaces;
import io.kvtier.object.ObjectIndex;
import io.kvtier.object.ObjectKeys;
import io.kvtier.object.ObjectState;
import io.kvtier.policy.EvictionPolicy;
import io.kvtier.tier.TestObjects;
import io.kvtier.tier.TierAdapter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/**
 * The table against a plain list, and against a disk on which files come and go some time after the table has said so,
 * as they do where several threads are at work.
 */
class RecordTablePropertyTest {
    private static final int KEYS = 12;
    private static final int STEPS = 300;
    private static final long MAX_BYTES = 60_000;
    private static final int MAX_OBJECTS = 6;

    @Property(tries = 150)
    void followsTheModel(@ForAll long seed, @ForAll EvictionPolicy.Kind kind) {
        Run run = new Run(seed, kind);
        for (int step = 0; step < STEPS; step++) {
            run.step();
            run.check();
        }
    }

    private enum Phase {
        BOOKED,
        READABLE,
        HIDDEN
    }

    /** A record as it should be; it is on the disk where {@code written}. */
    private static final class Item {
        final int key;
        final int slot;
        final long payload;
        final List<Long> leases = new ArrayList<>();
        Phase phase = Phase.BOOKED;
        boolean written;
        boolean mustGo;

        Item(int key, int slot, long payload) {
            this.key = key;
            this.slot = slot;
            this.payload = payload;
        }

        long disk() {
            return 4096 + (payload + 4095) / 4096 * 4096;
        }

        boolean mayGo() {
            return phase == Phase.READABLE && leases.isEmpty();
        }
    }

    /** A reservation whose victims must be deleted before its record is written. */
    private record Writer(Item item, List<Item> victims) {}

    private static final class Run {
        private final SplittableRandom random;
        private final EvictionPolicy.Kind kind;
        private final RecordTable table;
        private final ObjectKeys keys = TestObjects.keys(new KeySpaces(), TestObjects.space("s"), KEYS);
        private final Map<Integer, Item> items = new HashMap<>();
        private final List<Item> order = new ArrayList<>();
        private final List<Writer> writers = new ArrayList<>();

        Run(long seed, EvictionPolicy.Kind kind) {
            this.random = new SplittableRandom(seed);
            this.kind = kind;
            this.table = new RecordTable(kind.create(), MAX_BYTES, MAX_OBJECTS);
        }

        void step() {
            int key = random.nextInt(KEYS);
            switch (random.nextInt(12)) {
                case 0, 1, 2 -> reserve(key);
                case 3, 4, 5 -> goOn();
                case 6 -> touch(key);
                case 7, 8 -> lease(key);
                case 9, 10 -> release(key);
                default -> delete(key);
            }
        }

        void check() {
            List<Item> there = items.values().stream()
                    .filter(item -> item.phase != Phase.BOOKED)
                    .toList();
            assertThat(table.bytes()).isEqualTo(sum(there)).isLessThanOrEqualTo(MAX_BYTES);
            assertThat(table.occupied()).isEqualTo(sum(List.copyOf(items.values())));
            assertThat(table.size()).isEqualTo(items.size());
            assertThat(table.residents()).isEqualTo(order.size()).isLessThanOrEqualTo(MAX_OBJECTS);
            assertThat(table.leases())
                    .isEqualTo(items.values().stream()
                            .mapToLong(item -> item.leases.size())
                            .sum());
            for (int key = 0; key < KEYS; key++) {
                checkKey(key);
            }
            checkDisk();
        }

        private void checkKey(int key) {
            Item item = items.get(key);
            ObjectState expected = item == null ? ObjectState.ABSENT : stateOf(item.phase);
            assertThat(table.state(keys, key)).isEqualTo(expected);
            boolean readable = item != null && item.phase == Phase.READABLE;
            assertThat(table.findResident(keys, key)).isEqualTo(readable ? item.slot : ObjectIndex.NONE);
            if (item != null) {
                assertThat(table.isLeased(item.slot)).isEqualTo(!item.leases.isEmpty());
                item.leases.forEach(lease -> {
                    assertThat(table.length(lease)).isEqualTo(item.payload);
                    assertThat(table.checksum(lease)).isEqualTo(item.key);
                });
            }
        }

        /** What is on the disk is within the capacity whoever is how far with what. */
        private void checkDisk() {
            List<Item> onDisk =
                    items.values().stream().filter(item -> item.written).toList();
            assertThat(sum(onDisk)).isLessThanOrEqualTo(MAX_BYTES);
            assertThat(onDisk.size()).isLessThanOrEqualTo(MAX_OBJECTS);
        }

        private void reserve(int key) {
            if (items.containsKey(key)) {
                return;
            }
            long payload = 1 + random.nextInt(random.nextInt(4) > 0 ? 4_000 : 30_000);
            List<Item> expected = expectedVictims(new Item(key, ObjectIndex.NONE, payload).disk());
            List<Integer> victims = new ArrayList<>();
            int slot = table.reserve(keys, key, payload, victims);
            if (expected == null) {
                assertThat(slot).isEqualTo(ObjectIndex.NONE);
                assertThat(victims).isEmpty();
                return;
            }
            assertThat(slot).isNotEqualTo(ObjectIndex.NONE);
            assertThat(victims)
                    .isEqualTo(expected.stream().map(item -> item.slot).toList());
            order.removeAll(expected);
            expected.forEach(item -> item.phase = Phase.HIDDEN);
            Item item = new Item(key, slot, payload);
            items.put(key, item);
            writers.add(new Writer(item, new ArrayList<>(expected)));
        }

        /** Returns which records must go for so many more bytes, or null if there can be no room. */
        private List<Item> expectedVictims(long need) {
            List<Item> victims = new ArrayList<>();
            List<Item> left = new ArrayList<>(items.values());
            while (sum(left) + need > MAX_BYTES || left.size() + 1 > MAX_OBJECTS) {
                Item next = order.stream()
                        .filter(item -> item.mayGo() && !victims.contains(item))
                        .findFirst()
                        .orElse(null);
                if (next == null) {
                    return null;
                }
                victims.add(next);
                left.remove(next);
            }
            return victims;
        }

        /** One of the writers, in no order, deletes a victim or writes and publishes, or gives up. */
        private void goOn() {
            if (writers.isEmpty()) {
                return;
            }
            Writer writer = writers.get(random.nextInt(writers.size()));
            if (!writer.victims.isEmpty()) {
                deleteFile(writer.victims.removeFirst(), writer);
            } else if (!writer.item.written && random.nextInt(5) > 0) {
                writer.item.written = true;
            } else {
                finish(writer);
            }
        }

        private void deleteFile(Item victim, Writer writer) {
            if (random.nextInt(8) > 0) {
                table.forget(victim.slot);
                items.remove(victim.key);
                return;
            }
            show(victim);
            table.restore(victim.slot);
            // The writer still deletes its other victims, but it must not write.
            while (!writer.victims.isEmpty()) {
                Item other = writer.victims.removeFirst();
                table.forget(other.slot);
                items.remove(other.key);
            }
            finish(writer);
        }

        private void finish(Writer writer) {
            writers.remove(writer);
            if (writer.item.written) {
                table.publish(writer.item.slot, writer.item.payload, writer.item.key);
                show(writer.item);
            } else {
                table.abandon(writer.item.slot, writer.item.payload);
                items.remove(writer.item.key);
            }
        }

        private void touch(int key) {
            Item item = items.get(key);
            boolean readable = item != null && item.phase == Phase.READABLE;
            assertThat(table.touch(keys, key)).isEqualTo(readable);
            if (readable && kind == EvictionPolicy.Kind.LRU) {
                order.remove(item);
                order.add(item);
            }
        }

        private void lease(int key) {
            Item item = items.get(key);
            long lease = table.lease(keys, key);
            if (item != null && item.phase == Phase.READABLE) {
                assertThat(lease).isNotEqualTo(TierAdapter.NO_LEASE);
                item.leases.add(lease);
            } else {
                assertThat(lease).isEqualTo(TierAdapter.NO_LEASE);
            }
        }

        private void release(int key) {
            Item item = items.get(key);
            if (item == null || item.leases.isEmpty()) {
                return;
            }
            boolean mustGo = table.release(item.leases.removeLast());
            assertThat(mustGo).isEqualTo(item.mustGo && item.leases.isEmpty());
            if (mustGo) {
                table.forget(item.slot);
                items.remove(key);
            }
        }

        private void delete(int key) {
            Item item = items.get(key);
            if (item == null || item.phase != Phase.READABLE) {
                return;
            }
            table.hideIfResident(item.slot);
            table.hideIfResident(item.slot);
            order.remove(item);
            item.phase = Phase.HIDDEN;
            item.mustGo = true;
            if (item.leases.isEmpty()) {
                table.forget(item.slot);
                items.remove(key);
            }
        }

        private void show(Item item) {
            item.phase = Phase.READABLE;
            order.add(item);
        }

        private static ObjectState stateOf(Phase phase) {
            return switch (phase) {
                case BOOKED -> ObjectState.STAGED;
                case READABLE -> ObjectState.RESIDENT;
                case HIDDEN -> ObjectState.EVICTING;
            };
        }

        private static long sum(List<Item> list) {
            return list.stream().mapToLong(Item::disk).sum();
        }
    }
}
