package io.kvtier.issues;

import static io.kvtier.issues.NumberedObjects.BYTES;
import static io.kvtier.issues.NumberedObjects.buffer;
import static io.kvtier.issues.NumberedObjects.holds;
import static io.kvtier.issues.NumberedObjects.keys;
import static io.kvtier.issues.NumberedObjects.store;
import static io.kvtier.issues.NumberedObjects.writer;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.kvtier.memory.PagePool;
import io.kvtier.memory.Slab;
import io.kvtier.object.KeySpace;
import io.kvtier.object.ObjectIndex;
import io.kvtier.object.ObjectKeys;
import io.kvtier.store.MemoryStatus;
import io.kvtier.store.ObjectLeases;
import io.kvtier.store.Promotion;
import io.kvtier.store.StorageManager;
import io.kvtier.tier.FileTierConfig;
import io.kvtier.tier.StoreOutcome;
import io.kvtier.tier.TierAdapter;
import io.kvtier.tier.TierException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Reports about pages, leases and the moment at which an object can be found. */
@Timeout(20)
class LeaseReportsTest {
    @TempDir
    Path folder;

    /** LMCache#5005: two callers hold the same page. */
    @Test
    void secondFreeIsRefused() {
        try (Slab slab = Slab.allocate(4 * 64)) {
            PagePool pool = new PagePool(slab, 64);
            long page = pool.allocate();
            pool.free(page);
            assertThatIllegalStateException().isThrownBy(() -> pool.free(page));
            assertThat(pool.free() + pool.used()).isEqualTo(pool.pages());
            assertThat(pool.free()).isEqualTo(4);
            long first = pool.allocate();
            long second = pool.allocate();
            assertThat(pool.page(first).asOverlappingSlice(pool.page(second))).isEmpty();
            assertThatIllegalStateException().isThrownBy(() -> pool.free(page));
        }
    }

    /** LMCache#3130: eviction of several took the bytes away from a reader. */
    @Test
    void evictionOfNeighboursLeavesALeasedObjectAlone() throws TierException {
        try (StorageManager manager = NumberedObjects.open(3);
                ObjectLeases reader = new ObjectLeases()) {
            store(manager, 1);
            store(manager, 2);
            store(manager, 3);
            assertThat(manager.lookup(keys(manager, 1), reader)).isEqualTo(1);
            MemorySegment bytes = manager.segment(reader, 0);
            for (int number = 4; number < 40; number++) {
                assertThat(store(manager, number)).isEqualTo(StoreOutcome.STORED);
                assertThat(holds(bytes, 1)).isTrue();
                requireStored(manager, number);
            }
            assertThat(manager.contains(keys(manager, 2), 0)).isFalse();
            assertThat(manager.contains(keys(manager, 3), 0)).isFalse();
        }
    }

    /** LMCache#1130, #1156: dropped while pinned, and never freed. */
    @Test
    void deletedAndReleasedInEitherOrderIsFreedOnce() throws TierException {
        try (StorageManager manager = NumberedObjects.open(1, FileTierConfig.in(folder))) {
            TierAdapter tier = manager.tiers().getFirst();
            ObjectKeys key = keys(manager, 1);
            store(manager, 1);
            long lease = tier.lease(key, 0);
            assertThat(tier.delete(key, 0)).isTrue();
            assertThat(tier.contains(key, 0)).isFalse();
            assertThat(tier.status().bytes()).isPositive();
            tier.release(lease);
            assertThat(tier.status().bytes()).isZero();

            store(manager, 1);
            tier.release(tier.lease(key, 0));
            assertThat(tier.delete(key, 0)).isTrue();
            assertThat(tier.delete(key, 0)).isFalse();
            assertThat(tier.status().bytes()).isZero();
            assertThat(tier.status().leases()).isZero();
        }
    }

    /** LMCache#5090, #2954, #3381: each hit unpins twice. */
    @Test
    void leaseIsGivenBackExactlyOnce() throws TierException {
        try (StorageManager manager = NumberedObjects.open(1, FileTierConfig.in(folder))) {
            TierAdapter tier = manager.tiers().getFirst();
            store(manager, 1);
            store(manager, 2);
            ObjectKeys key = keys(manager, 1);
            ObjectLeases leases = new ObjectLeases();
            manager.lookup(key, leases);
            assertThat(manager.promote(key, leases, 0)).isEqualTo(Promotion.IN_MEMORY);
            leases.close();
            leases.close();
            assertThat(manager.memoryStatus().leases()).isZero();
            long lease = tier.lease(key, 0);
            tier.release(lease);
            assertThatIllegalStateException().isThrownBy(() -> tier.release(lease));
            assertThat(tier.status().leases()).isZero();
        }
    }

    /** LMCache#2847: storing what is there leaks. */
    @Test
    void storingTheSameKeysAgainAndAgainHoldsNothing() throws TierException {
        try (StorageManager manager = NumberedObjects.open(100, FileTierConfig.in(folder))) {
            storeHundred(manager, StoreOutcome.STORED);
            MemoryStatus memory = manager.memoryStatus();
            var tier = manager.tierStatus();
            for (int round = 0; round < 1000; round++) {
                storeHundred(manager, StoreOutcome.PRESENT);
            }
            assertThat(manager.memoryStatus()).isEqualTo(memory);
            assertThat(manager.tierStatus()).isEqualTo(tier);
            assertThat(memory.leases()).isZero();
        }
    }

    /** LMCache#207, #3937: an object is found before it is written. */
    @Test
    void halfWrittenObjectIsNotFound() throws Exception {
        try (StorageManager manager = NumberedObjects.open(2, FileTierConfig.in(folder))) {
            CountDownLatch half = new CountDownLatch(1);
            CountDownLatch goOn = new CountDownLatch(1);
            CompletableFuture<StoreOutcome> writing =
                    CompletableFuture.supplyAsync(() -> manager.store(keys(manager, 1), 0, BYTES, object -> {
                        object.asSlice(0, BYTES / 2).fill((byte) 1);
                        half.countDown();
                        await(goOn);
                        object.fill((byte) 1);
                    }));
            half.await();
            assertThat(manager.contains(keys(manager, 1), 0)).isFalse();
            try (ObjectLeases leases = new ObjectLeases()) {
                assertThat(manager.lookup(keys(manager, 1), leases)).isZero();
            }
            goOn.countDown();
            assertThat(writing.get()).isEqualTo(StoreOutcome.STORED);
            requireStored(manager, 1);
        }
    }

    /** Mooncake#850, #778, #3996: a lease that was outlived reads another object's bytes. */
    @Test
    void staleLeaseReadsNothing() throws TierException {
        try (StorageManager manager = NumberedObjects.open(1, FileTierConfig.in(folder))) {
            TierAdapter tier = manager.tiers().getFirst();
            store(manager, 1);
            long stale = tier.lease(keys(manager, 1), 0);
            tier.release(stale);
            tier.delete(keys(manager, 1), 0);
            store(manager, 2);
            long fresh = tier.lease(keys(manager, 2), 0);
            assertThat(ObjectIndex.slot(fresh)).isEqualTo(ObjectIndex.slot(stale));
            MemorySegment bytes = buffer();
            assertThatIllegalStateException().isThrownBy(() -> tier.load(stale, bytes));
            assertThatIllegalStateException().isThrownBy(() -> tier.length(stale));
            assertThatIllegalStateException().isThrownBy(() -> tier.release(stale));
            assertThat(holds(bytes, 0)).isTrue();
            tier.release(fresh);
        }
    }

    /** Mooncake#4239, #3030: the end of an old write completes a newer one. */
    @Test
    void writeThatHasEndedCannotEndAgain() throws TierException {
        try (StorageManager manager = NumberedObjects.open(1)) {
            ObjectIndex index = new ObjectIndex();
            int slot = index.stage(keys(manager, 1), 0);
            index.link(slot);
            index.publish(slot, BYTES, 1);
            assertThatIllegalStateException().isThrownBy(() -> index.publish(slot, BYTES, 2));
            assertThatIllegalStateException().isThrownBy(() -> index.link(slot));
            assertThat(index.checksum(slot)).isEqualTo(1);
        }
    }

    /** LMCache#4825, #2878, #2880, #3770; sglang#37160: the salt is dropped on one path. */
    @Test
    void saltHoldsOnEveryPathOfEveryTier() throws TierException {
        try (StorageManager manager = NumberedObjects.open(2, FileTierConfig.in(folder))) {
            TierAdapter tier = manager.tiers().getFirst();
            ObjectKeys mine = keys(manager, "mine", 1);
            manager.store(mine, 0, BYTES, writer(1));
            for (ObjectKeys other : List.of(keys(manager, "other", 1), keys(manager, 1), keys(manager, "Mine", 1))) {
                requireInvisible(manager, other);
            }
            assertThat(tier.keySpaces()).extracting(KeySpace::salt).containsExactly("mine");
            try (ObjectLeases leases = new ObjectLeases()) {
                assertThat(manager.lookup(mine, leases)).isEqualTo(1);
                assertThat(holds(manager.segment(leases, 0), 1)).isTrue();
            }
            assertThat(tier.touch(mine, 0)).isTrue();
            assertThat(tier.delete(mine, 0)).isTrue();
            assertThat(manager.memoryStatus().leases() + tier.status().leases()).isZero();
        }
    }

    private static void requireInvisible(StorageManager manager, ObjectKeys key) {
        TierAdapter tier = manager.tiers().getFirst();
        assertThat(manager.contains(key, 0)).isFalse();
        assertThat(tier.contains(key, 0)).isFalse();
        assertThat(tier.touch(key, 0)).isFalse();
        assertThat(tier.delete(key, 0)).isFalse();
        assertThat(tier.lease(key, 0)).isEqualTo(TierAdapter.NO_LEASE);
        manager.touch(key, 0);
        try (ObjectLeases leases = new ObjectLeases()) {
            assertThat(manager.lookup(key, leases)).isZero();
        }
    }

    private static void storeHundred(StorageManager manager, StoreOutcome expected) {
        ObjectKeys keys = keys(manager, java.util.stream.IntStream.range(0, 100).toArray());
        for (int i = 0; i < 100; i++) {
            assertThat(manager.store(keys, i, BYTES, writer(i))).isEqualTo(expected);
        }
    }

    private static void requireStored(StorageManager manager, int number) {
        try (ObjectLeases leases = new ObjectLeases()) {
            assertThat(manager.lookup(keys(manager, number), leases)).isEqualTo(1);
            assertThat(holds(manager.segment(leases, 0), number)).isTrue();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
