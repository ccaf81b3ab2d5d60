package io.kvtier.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;

/** An index against a map from key to a plain record of what it should hold. */
class ObjectIndexPropertyTest {
    private static final int KEYS = 300;

    private static final class Entry {
        private final int key;
        private final int slot;
        private ObjectState state = ObjectState.STAGED;
        private boolean linked;
        private long length;
        private final List<Long> leases = new ArrayList<>();

        Entry(int key, int slot) {
            this.key = key;
            this.slot = slot;
        }
    }

    private final KeySpaces spaces = new KeySpaces();
    private final ObjectIndex index = new ObjectIndex();
    private final Map<Integer, Entry> linked = new HashMap<>();
    private final List<Entry> entries = new ArrayList<>();
    private final List<Long> dead = new ArrayList<>();

    @Property(tries = 30, shrinking = ShrinkingMode.OFF)
    void behavesAsAMap(@ForAll long seed) {
        behavesAsAMap(SampleKeys.keys(spaces, SampleKeys.SPACE, KEYS), new Random(seed));
    }

    /** Keys that share the first 8 bytes of their hash fall into one bucket. */
    @Property(tries = 30, shrinking = ShrinkingMode.OFF)
    void behavesAsAMapWhereAllKeysCollide(@ForAll long seed) {
        behavesAsAMap(collidingKeys(), new Random(seed));
    }

    @Example
    void keysThatDifferInOneByteOrTheSpaceOnlyAreApart() {
        ObjectKeys keys = spaces.keys(SampleKeys.SPACE);
        ObjectKeys others = spaces.keys(SampleKeys.variants().get("salt"));
        keys.add(ChunkHash.of(new byte[32]));
        others.add(ChunkHash.of(new byte[32]));
        for (int i = 0; i < 32; i++) {
            byte[] hash = new byte[32];
            hash[i] = 1;
            keys.add(ChunkHash.of(hash));
        }
        Set<Integer> slots = new HashSet<>();
        for (int i = 0; i < keys.size(); i++) {
            assertThat(index.find(keys, i)).isEqualTo(ObjectIndex.NONE);
            int slot = index.stage(keys, i);
            assertThat(index.link(slot)).isTrue();
            slots.add(slot);
        }
        assertThat(slots).hasSize(33);
        assertThat(index.find(others, 0)).isEqualTo(ObjectIndex.NONE);
    }

    @Example
    void theHashOfASlotComesBack() {
        ObjectKeys keys = SampleKeys.keys(spaces, SampleKeys.SPACE, 3);
        byte[] hash = new byte[32];
        index.copyHash(index.stage(keys, 2), hash);
        assertThat(ChunkHash.of(hash)).isEqualTo(SampleKeys.hash(2, 32));
    }

    @Example
    void leasesThatNobodyGaveAreRefused() {
        for (long lease : new long[] {-1, 0, 1, 64, 1L << 32, Long.MIN_VALUE, Long.MAX_VALUE}) {
            assertThatIllegalStateException().isThrownBy(() -> index.release(lease));
            assertThatIllegalStateException().isThrownBy(() -> index.requireLive(lease));
        }
    }

    private ObjectKeys collidingKeys() {
        ObjectKeys keys = spaces.keys(SampleKeys.SPACE);
        for (int i = 0; i < KEYS; i++) {
            byte[] hash = SampleKeys.hash(i % 7, 32).bytes();
            hash[8 + i % 24] ^= (byte) (1 + i / 24);
            keys.add(ChunkHash.of(hash));
        }
        return keys;
    }

    private void behavesAsAMap(ObjectKeys keys, Random random) {
        for (int step = 0; step < 1500; step++) {
            switch (random.nextInt(7)) {
                case 0, 1 -> stage(keys, random.nextInt(KEYS));
                case 2 -> linkOrPublish(random);
                case 3 -> lease(random);
                case 4 -> release(random);
                case 5 -> retireOrRestore(random);
                default -> remove(random);
            }
            int key = random.nextInt(KEYS);
            assertFound(keys, key);
            assertThat(index.size()).isEqualTo(entries.size());
        }
        for (int key = 0; key < KEYS; key++) {
            assertFound(keys, key);
        }
        assertResidents();
        assertLeases();
    }

    private void stage(ObjectKeys keys, int key) {
        int slot = index.stage(keys, key);
        assertThat(entries).noneMatch(entry -> entry.slot == slot);
        entries.add(new Entry(key, slot));
    }

    private void linkOrPublish(Random random) {
        Entry entry = any(random);
        if (entry == null || entry.state != ObjectState.STAGED) {
            return;
        }
        if (entry.linked) {
            assertThatIllegalStateException().isThrownBy(() -> index.link(entry.slot));
            entry.length = random.nextLong(1L << 40);
            index.publish(entry.slot, entry.length, (int) entry.length * 31);
            entry.state = ObjectState.RESIDENT;
            return;
        }
        assertThatIllegalStateException().isThrownBy(() -> index.publish(entry.slot, 1, 1));
        entry.linked = index.link(entry.slot);
        assertThat(entry.linked).isEqualTo(linked.putIfAbsent(entry.key, entry) == null);
    }

    private void lease(Random random) {
        Entry entry = any(random);
        if (entry == null) {
            return;
        }
        if (entry.state == ObjectState.RESIDENT) {
            long lease = index.lease(entry.slot);
            assertThat(ObjectIndex.slot(lease)).isEqualTo(entry.slot);
            entry.leases.add(lease);
        } else {
            assertThatIllegalStateException().isThrownBy(() -> index.lease(entry.slot));
        }
    }

    private void release(Random random) {
        Entry entry = any(random);
        if (entry != null && !entry.leases.isEmpty()) {
            long lease = entry.leases.removeLast();
            assertThat(index.release(lease)).isEqualTo(entry.leases.size());
            if (entry.leases.isEmpty()) {
                assertThatIllegalStateException().isThrownBy(() -> index.release(lease));
            }
        }
        if (!dead.isEmpty()) {
            long lease = dead.get(random.nextInt(dead.size()));
            assertThatIllegalStateException().isThrownBy(() -> index.release(lease));
            assertThatIllegalStateException().isThrownBy(() -> index.requireLive(lease));
        }
    }

    private void retireOrRestore(Random random) {
        Entry entry = any(random);
        if (entry == null) {
            return;
        }
        switch (entry.state) {
            case RESIDENT -> {
                assertThatIllegalStateException().isThrownBy(() -> index.restore(entry.slot));
                index.retire(entry.slot);
                entry.state = ObjectState.EVICTING;
            }
            case EVICTING -> {
                assertThatIllegalStateException().isThrownBy(() -> index.retire(entry.slot));
                index.restore(entry.slot);
                entry.state = ObjectState.RESIDENT;
            }
            default -> assertThatIllegalStateException().isThrownBy(() -> index.retire(entry.slot));
        }
    }

    private void remove(Random random) {
        Entry entry = any(random);
        if (entry == null) {
            return;
        }
        if (!entry.leases.isEmpty()) {
            assertThatIllegalStateException().isThrownBy(() -> index.remove(entry.slot));
            return;
        }
        long lease = entry.state == ObjectState.RESIDENT ? index.lease(entry.slot) : -1;
        if (lease != -1) {
            index.release(lease);
            dead.add(lease);
        }
        index.remove(entry.slot);
        assertThatIllegalStateException().isThrownBy(() -> index.remove(entry.slot));
        entries.remove(entry);
        if (entry.linked) {
            linked.remove(entry.key);
        }
    }

    private Entry any(Random random) {
        return entries.isEmpty() ? null : entries.get(random.nextInt(entries.size()));
    }

    private void assertFound(ObjectKeys keys, int key) {
        Entry entry = linked.get(key);
        assertThat(index.find(keys, key)).isEqualTo(entry == null ? ObjectIndex.NONE : entry.slot);
        boolean resident = entry != null && entry.state == ObjectState.RESIDENT;
        assertThat(index.findResident(keys, key)).isEqualTo(resident ? entry.slot : ObjectIndex.NONE);
        if (resident) {
            assertThat(index.length(entry.slot)).isEqualTo(entry.length);
            assertThat(index.checksum(entry.slot)).isEqualTo((int) entry.length * 31);
            assertThat(index.spaceId(entry.slot)).isEqualTo(keys.spaceId());
        }
    }

    private void assertResidents() {
        Set<Integer> residents = new HashSet<>();
        index.forEachResident(residents::add);
        Set<Integer> expected = new HashSet<>();
        entries.stream()
                .filter(entry -> entry.state == ObjectState.RESIDENT)
                .forEach(entry -> expected.add(entry.slot));
        assertThat(residents).isEqualTo(expected);
    }

    private void assertLeases() {
        long leases = 0;
        for (Entry entry : entries) {
            assertThat(index.leases(entry.slot)).isEqualTo(entry.leases.size());
            leases += entry.leases.size();
        }
        assertThat(index.leaseCount()).isEqualTo(leases);
    }
}
