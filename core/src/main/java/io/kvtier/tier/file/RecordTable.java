package io.kvtier.tier.file;

import io.kvtier.object.ObjectIndex;
import io.kvtier.object.ObjectKeys;
import io.kvtier.object.ObjectState;
import io.kvtier.policy.EvictionPolicy;
import io.kvtier.tier.TierAdapter;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;

/**
 * What a folder holds, in which order it goes, and what it takes of the capacity; no I/O. Not thread-safe: the adapter's
 * lock guards it.
 */
final class RecordTable {
    /*
     * `bytes` counts what is on disk, `booked` what is about to be. A reservation books its own record before it picks
     * victims, and a victim is uncounted only when its file is gone: once the victims of a reservation are deleted, which
     * its owner does before writing, both together are within the capacity. Victims of others count as there until then,
     * so stores at the same time may evict or refuse one object more than one after the other would.
     *
     * `evictable*` count resident objects without a lease, so a reservation knows beforehand whether it can succeed, and
     * a refusal changes nothing.
     */
    private final ObjectIndex index = new ObjectIndex();
    private final EvictionPolicy policy;
    private final IntPredicate evictable = this::isUnleased;
    private final BitSet uncounted = new BitSet();
    private final long maxBytes;
    private final long maxObjects;

    private long bytes;
    private long booked;
    private int residents;
    private long evictableBytes;
    private int evictableObjects;

    RecordTable(EvictionPolicy policy, long maxBytes, long maxObjects) {
        this.policy = policy;
        this.maxBytes = maxBytes;
        this.maxObjects = maxObjects;
    }

    /** Returns the slot of a readable record, or {@link ObjectIndex#NONE}. */
    int findResident(ObjectKeys keys, int i) {
        return index.findResident(keys, i);
    }

    /** Returns the state of a key's record. */
    ObjectState state(ObjectKeys keys, int i) {
        int slot = index.find(keys, i);
        return slot == ObjectIndex.NONE ? ObjectState.ABSENT : index.state(slot);
    }

    boolean touch(ObjectKeys keys, int i) {
        int slot = index.findResident(keys, i);
        if (slot == ObjectIndex.NONE) {
            return false;
        }
        policy.touched(slot);
        return true;
    }

    /**
     * Books a record that is absent and hides as many others as must go for it.
     *
     * @param victims receives the slots whose files must be deleted before the record is written
     * @return the record's slot, or {@link ObjectIndex#NONE} if there can be no room; nothing has changed then
     */
    int reserve(ObjectKeys keys, int i, long payloadBytes, List<Integer> victims) {
        long need = RecordFiles.diskBytes(payloadBytes);
        boolean possible =
                bytes + booked - evictableBytes + need <= maxBytes && index.size() - evictableObjects + 1 <= maxObjects;
        if (!possible) {
            return ObjectIndex.NONE;
        }
        long freed = 0;
        while (exceeds(need - freed, 1 - victims.size())) {
            int victim = hideVictim();
            freed += diskBytes(victim);
            victims.add(victim);
        }
        booked += need;
        int slot = index.stage(keys, i);
        index.link(slot);
        return slot;
    }

    /** Makes a reserved record readable. */
    void publish(int slot, long payloadBytes, int checksum) {
        booked -= RecordFiles.diskBytes(payloadBytes);
        enter(slot, payloadBytes, checksum);
    }

    /** Gives a reservation up. */
    void abandon(int slot, long payloadBytes) {
        index.remove(slot);
        booked -= RecordFiles.diskBytes(payloadBytes);
    }

    /** Enters a record that was found on disk, as the last used so far. */
    void recover(ObjectKeys keys, int i, long payloadBytes, int checksum) {
        int slot = index.stage(keys, i);
        index.link(slot);
        enter(slot, payloadBytes, checksum);
    }

    /** Returns whether more is there than may be. */
    boolean overCapacity() {
        return exceeds(0, 0);
    }

    /** Hides the next victim and returns its slot, or {@link ObjectIndex#NONE}. */
    int hideVictim() {
        int victim = policy.victim(evictable);
        if (victim != ObjectIndex.NONE) {
            hide(victim);
        }
        return victim;
    }

    /** Hides a resident record from readers; its leases stay. */
    void hide(int slot) {
        policy.removed(slot);
        index.retire(slot);
        residents--;
        if (index.leases(slot) == 0) {
            countEvictable(slot, -1);
        }
    }

    void hideIfResident(int slot) {
        if (index.state(slot) == ObjectState.RESIDENT) {
            hide(slot);
        }
    }

    /** Makes a hidden record, whose file could not be deleted, readable again. */
    void restore(int slot) {
        index.restore(slot);
        show(slot);
    }

    /** Forgets a hidden record whose file is gone. */
    void forget(int slot) {
        if (uncounted.get(slot)) {
            uncounted.clear(slot);
        } else {
            bytes -= diskBytes(slot);
        }
        index.remove(slot);
    }

    /** Counts a hidden record no longer: its file has moved away, though leases on it are open. */
    void uncount(int slot) {
        if (index.state(slot) == ObjectState.EVICTING && !uncounted.get(slot)) {
            uncounted.set(slot);
            bytes -= diskBytes(slot);
        }
    }

    /** Takes a lease on a readable record, or returns {@link TierAdapter#NO_LEASE}. */
    long lease(ObjectKeys keys, int i) {
        int slot = index.findResident(keys, i);
        if (slot == ObjectIndex.NONE) {
            return TierAdapter.NO_LEASE;
        }
        if (index.leases(slot) == 0) {
            countEvictable(slot, -1);
        }
        return index.lease(slot);
    }

    /** Gives a lease back; returns whether it was the last one of a hidden record, whose file must go now. */
    boolean release(long lease) {
        int slot = ObjectIndex.slot(lease);
        if (index.release(lease) > 0) {
            return false;
        }
        boolean hidden = index.state(slot) == ObjectState.EVICTING;
        if (!hidden) {
            countEvictable(slot, 1);
        }
        return hidden;
    }

    /** Returns the payload bytes of a leased record. */
    long length(long lease) {
        index.requireLive(lease);
        return index.length(ObjectIndex.slot(lease));
    }

    /** Returns the checksum of a leased record's payload. */
    int checksum(long lease) {
        index.requireLive(lease);
        return index.checksum(ObjectIndex.slot(lease));
    }

    boolean isLeased(int slot) {
        return index.leases(slot) > 0;
    }

    int spaceId(int slot) {
        return index.spaceId(slot);
    }

    void copyHash(int slot, byte[] out) {
        index.copyHash(slot, out);
    }

    void forEachResident(IntConsumer consumer) {
        index.forEachResident(consumer);
    }

    void forEachHidden(IntConsumer consumer) {
        index.forEach(ObjectState.EVICTING, consumer);
    }

    /** Returns the bytes that are on disk; never more than the capacity. */
    long bytes() {
        return bytes;
    }

    /** Returns the bytes that are on disk or booked; more than the capacity until a store's victims are deleted. */
    long occupied() {
        return bytes + booked;
    }

    /** Returns the number of readable records. */
    int residents() {
        return residents;
    }

    /** Returns the number of records that are on disk or booked. */
    int size() {
        return index.size();
    }

    long leases() {
        return index.leaseCount();
    }

    private boolean exceeds(long moreBytes, int moreObjects) {
        return bytes + booked + moreBytes > maxBytes || index.size() + moreObjects > maxObjects;
    }

    private void enter(int slot, long payloadBytes, int checksum) {
        index.publish(slot, payloadBytes, checksum);
        bytes += diskBytes(slot);
        show(slot);
    }

    private void show(int slot) {
        policy.added(slot);
        residents++;
        countEvictable(slot, 1);
    }

    private void countEvictable(int slot, int sign) {
        evictableObjects += sign;
        evictableBytes += sign * diskBytes(slot);
    }

    private boolean isUnleased(int slot) {
        return index.leases(slot) == 0;
    }

    private long diskBytes(int slot) {
        return RecordFiles.diskBytes(index.length(slot));
    }
}
