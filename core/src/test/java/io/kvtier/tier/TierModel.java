package io.kvtier.tier;

import io.kvtier.policy.EvictionPolicy;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.LongUnaryOperator;

/** What a tier must do, as plainly as it can be said: a list of objects, the next victim first. */
final class TierModel {
    private static final class Entry {
        final int key;
        final int length;
        final long written;
        int leases;
        boolean hidden;

        Entry(int key, int length, long written) {
            this.key = key;
            this.length = length;
            this.written = written;
        }
    }

    private final TierContractTest.Caps caps;
    private final LongUnaryOperator heldBytes;
    private final List<Entry> entries = new ArrayList<>();
    private long writes;

    TierModel(TierContractTest.Caps caps, LongUnaryOperator heldBytes) {
        this.caps = caps;
        this.heldBytes = heldBytes;
    }

    StoreOutcome store(int key, int length) {
        Entry there = find(key);
        if (there != null) {
            return touch(key) ? StoreOutcome.PRESENT : StoreOutcome.BUSY;
        }
        List<Entry> left = new ArrayList<>(entries);
        while (!fits(left, length)) {
            if (!left.remove(left.stream().filter(TierModel::mayGo).findFirst().orElse(null))) {
                return StoreOutcome.NO_SPACE;
            }
        }
        entries.retainAll(left);
        entries.add(new Entry(key, length, writes++));
        return StoreOutcome.STORED;
    }

    boolean contains(int key) {
        Entry entry = find(key);
        return entry != null && !entry.hidden;
    }

    boolean touch(int key) {
        Entry entry = find(key);
        if (entry == null || entry.hidden) {
            return false;
        }
        if (caps.policy() == EvictionPolicy.Kind.LRU) {
            entries.remove(entry);
            entries.add(entry);
        }
        return true;
    }

    void lease(int key) {
        find(key).leases++;
    }

    void release(int key) {
        Entry entry = find(key);
        entry.leases--;
        drop(entry);
    }

    boolean delete(int key) {
        if (!contains(key)) {
            return false;
        }
        Entry entry = find(key);
        entry.hidden = true;
        drop(entry);
        return true;
    }

    /** The order of uses is forgotten, that of writing is not. */
    void restart() {
        entries.sort(Comparator.comparingLong(entry -> entry.written));
    }

    int length(int key) {
        return find(key).length;
    }

    long bytes() {
        return bytes(entries);
    }

    long objects() {
        return entries.stream().filter(entry -> !entry.hidden).count();
    }

    private void drop(Entry entry) {
        if (entry.hidden && entry.leases == 0) {
            entries.remove(entry);
        }
    }

    private static boolean mayGo(Entry entry) {
        return entry.leases == 0 && !entry.hidden;
    }

    private boolean fits(List<Entry> left, int length) {
        return left.size() < caps.objects() && bytes(left) + heldBytes.applyAsLong(length) <= caps.bytes();
    }

    private long bytes(List<Entry> list) {
        return list.stream()
                .mapToLong(entry -> heldBytes.applyAsLong(entry.length))
                .sum();
    }

    private Entry find(int key) {
        return entries.stream().filter(entry -> entry.key == key).findFirst().orElse(null);
    }
}
