package io.kvtier.store;

import static io.kvtier.store.StoreFixture.BYTES;
import static io.kvtier.store.StoreFixture.fill;
import static io.kvtier.store.StoreFixture.holds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.kvtier.memory.Crc32c;
import io.kvtier.memory.NativeMemory;
import io.kvtier.memory.NativeMemory.Purpose;
import io.kvtier.object.KeySpaces;
import io.kvtier.object.ObjectKeys;
import io.kvtier.policy.EvictionPolicy;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MemoryTierTest {
    private static final int CAPACITY = 3;

    private final KeySpaces spaces = new KeySpaces();
    private final MemoryTier tier = new MemoryTier(BYTES, CAPACITY, EvictionPolicy.Kind.LRU.create());

    @AfterEach
    void nothingIsLeftBehind() {
        tier.close();
        assertThat(tier.status().leases()).isZero();
        assertThat(tier.status().staged()).isZero();
        assertThat(tier.status().objects() + tier.status().free()).isEqualTo(CAPACITY);
    }

    @Test
    void stageIsInvisibleUntilItIsCommitted() {
        int slot = stage(1, 1);
        assertThat(tier.contains(key(1), 0)).isFalse();
        assertThat(tier.lease(key(1), 0)).isEqualTo(MemoryTier.NO_LEASE);
        assertThat(tier.touch(key(1), 0)).isFalse();
        assertThat(tier.status().staged()).isEqualTo(1);
        long lease = commit(1, slot);
        assertThat(tier.contains(key(1), 0)).isTrue();
        assertThat(holds(tier.segment(lease), 1)).isTrue();
        assertThat(tier.segment(lease).isReadOnly()).isTrue();
        tier.release(lease);
    }

    @Test
    void firstCommitOfSeveralWritersWins() {
        int first = stage(1, 10);
        int second = stage(1, 20);
        int third = stage(1, 30);
        long winner = commit(1, second);
        long loser = commit(1, first);
        tier.abort(third);
        assertThat(holds(tier.segment(winner), 20)).isTrue();
        assertThat(holds(tier.segment(loser), 20)).isTrue();
        assertThat(tier.checksum(loser)).isEqualTo(tier.checksum(winner));
        assertThat(tier.status().objects()).isEqualTo(1);
        assertThat(tier.status().free()).isEqualTo(CAPACITY - 1);
        tier.release(winner);
        tier.release(loser);
    }

    @Test
    void abortedStageGivesItsPageBack() {
        tier.abort(stage(1, 1));
        assertThat(tier.status().free()).isEqualTo(CAPACITY);
        assertThat(tier.contains(key(1), 0)).isFalse();
    }

    @Test
    void leastRecentlyUsedGoesFirst() {
        store(1, 2, 3);
        assertThat(tier.touch(key(1), 0)).isTrue();
        store(4);
        assertThat(tier.contains(key(2), 0)).isFalse();
        assertThat(tier.contains(key(1), 0)).isTrue();
        assertThat(tier.status().evictions()).isEqualTo(1);
    }

    @Test
    void leasedObjectIsPassedOver() {
        store(1, 2, 3);
        long lease = tier.lease(key(1), 0);
        store(4, 5, 6);
        assertThat(holds(tier.segment(lease), 1)).isTrue();
        assertThat(tier.contains(key(1), 0)).isTrue();
        assertThat(tier.contains(key(4), 0)).isFalse();
        tier.release(lease);
    }

    @Test
    void noSpaceChangesNothing() {
        store(1, 2, 3);
        long[] leases = {tier.lease(key(1), 0), tier.lease(key(2), 0), tier.lease(key(3), 0)};
        MemoryStatus before = tier.status();
        assertThat(tier.stage(key(4), 0, BYTES)).isEqualTo(MemoryTier.NO_SPACE);
        assertThat(tier.status()).isEqualTo(refusedOnceMore(before));
        for (int i = 0; i < leases.length; i++) {
            assertThat(holds(tier.segment(leases[i]), i + 1)).isTrue();
            tier.release(leases[i]);
        }
        store(4);
        assertThat(tier.contains(key(1), 0)).isFalse();
    }

    @Test
    void stagesThatFillTheMemoryLeaveNoSpace() {
        int[] slots = {stage(1, 1), stage(2, 2), stage(3, 3)};
        assertThat(tier.stage(key(4), 0, BYTES)).isEqualTo(MemoryTier.NO_SPACE);
        for (int slot : slots) {
            tier.abort(slot);
        }
    }

    @Test
    void doubleReleaseIsRefused() {
        store(1);
        long lease = tier.lease(key(1), 0);
        tier.release(lease);
        assertThatIllegalStateException().isThrownBy(() -> tier.release(lease)).withMessageContaining("not live");
        assertThatIllegalStateException().isThrownBy(() -> tier.segment(lease));
        assertThatIllegalStateException().isThrownBy(() -> tier.checksum(lease));
        assertThat(tier.status().leases()).isZero();
    }

    @Test
    void leaseOfAnEvictedObjectIsRefusedThoughItsSlotIsLeasedAgain() {
        store(1, 2, 3);
        long stale = tier.lease(key(1), 0);
        tier.release(stale);
        store(4);
        long fresh = tier.lease(key(4), 0);
        assertThatIllegalStateException().isThrownBy(() -> tier.release(stale)).withMessageContaining("epoch");
        assertThatIllegalStateException().isThrownBy(() -> tier.segment(stale));
        tier.release(fresh);
    }

    @Test
    void verifyFindsAChangedByte() {
        int slot = stage(1, 1);
        MemorySegment bytes = tier.staged(slot, BYTES);
        long lease = commit(1, slot);
        assertThat(tier.verify(lease)).isTrue();
        bytes.set(ValueLayout.JAVA_BYTE, BYTES - 1, (byte) ~bytes.get(ValueLayout.JAVA_BYTE, BYTES - 1));
        assertThat(tier.verify(lease)).isFalse();
        assertThat(tier.contains(key(1), 0)).isFalse();
        assertThat(tier.lease(key(1), 0)).isEqualTo(MemoryTier.NO_LEASE);
        assertThat(tier.status().corrupt()).isEqualTo(1);
        assertThat(tier.status().free()).isEqualTo(CAPACITY - 1);
        tier.release(lease);
        assertThat(tier.status().free()).isEqualTo(CAPACITY);
        store(1);
        assertThat(tier.contains(key(1), 0)).isTrue();
    }

    @Test
    void corruptObjectIsHiddenOnce() {
        int slot = stage(1, 1);
        tier.staged(slot, BYTES);
        long first = tier.commit(key(1), 0, slot, BYTES, 12345);
        long second = tier.lease(key(1), 0);
        assertThat(tier.verify(first)).isFalse();
        assertThat(tier.verify(second)).isFalse();
        tier.release(first);
        assertThat(tier.status().free()).isEqualTo(CAPACITY - 1);
        tier.release(second);
        assertThat(tier.status().free()).isEqualTo(CAPACITY);
    }

    @Test
    void leaseKeepsBytesAndMemoryAfterClose() {
        store(1);
        long first = tier.lease(key(1), 0);
        long second = tier.lease(key(1), 0);
        tier.close();
        tier.close();
        assertThat(tier.lease(key(1), 0)).isEqualTo(MemoryTier.NO_LEASE);
        tier.release(first);
        assertThat(NativeMemory.liveBytes(Purpose.OBJECTS))
                .isEqualTo(tier.status().slabBytes());
        assertThat(holds(tier.segment(second), 1)).isTrue();
        tier.release(second);
        assertThat(NativeMemory.liveBytes(Purpose.OBJECTS)).isZero();
    }

    @Test
    void stageKeepsMemoryAfterClose() {
        int slot = stage(1, 1);
        tier.close();
        assertThat(NativeMemory.liveBytes(Purpose.OBJECTS))
                .isEqualTo(tier.status().slabBytes());
        tier.abort(slot);
        assertThat(NativeMemory.liveBytes(Purpose.OBJECTS)).isZero();
    }

    @Test
    void objectLargerThanAPageIsRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> tier.stage(key(1), 0, 129))
                .withMessageContaining("128")
                .withMessageContaining("129");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> tier.stage(key(1), 0, 0))
                .withMessageContaining("0");
        assertThat(tier.status().free()).isEqualTo(CAPACITY);
    }

    private ObjectKeys key(int number) {
        return StoreFixture.keys(spaces, number);
    }

    private int stage(int number, int pattern) {
        int slot = tier.stage(key(number), 0, BYTES);
        fill(tier.staged(slot, BYTES), pattern);
        return slot;
    }

    private long commit(int number, int slot) {
        return tier.commit(key(number), 0, slot, BYTES, Crc32c.of(tier.staged(slot, BYTES)));
    }

    private void store(int... numbers) {
        for (int number : numbers) {
            tier.release(commit(number, stage(number, number)));
        }
    }

    private static MemoryStatus refusedOnceMore(MemoryStatus status) {
        return new MemoryStatus(
                status.objects(),
                status.capacity(),
                status.free(),
                status.staged(),
                status.leases(),
                status.slabBytes(),
                status.evictions(),
                status.refused() + 1,
                status.corrupt());
    }
}
