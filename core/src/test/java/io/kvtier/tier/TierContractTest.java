package io.kvtier.tier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.kvtier.layout.ElementType;
import io.kvtier.layout.KvFormat;
import io.kvtier.layout.KvLayout;
import io.kvtier.memory.Crc32c;
import io.kvtier.object.CacheIdentity;
import io.kvtier.object.KeySpace;
import io.kvtier.object.KeySpaces;
import io.kvtier.object.ObjectKeys;
import io.kvtier.policy.EvictionPolicy;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What every tier below memory must do. A subclass says how its tier is opened; opening a place again is a restart. */
public abstract class TierContractTest {
    /** Capacity and policy of a tier. */
    public record Caps(long bytes, long objects, EvictionPolicy.Kind policy) {
        static final Caps NONE = new Caps(Long.MAX_VALUE, Long.MAX_VALUE, EvictionPolicy.Kind.LRU);

        Caps withBytes(long newBytes) {
            return new Caps(newBytes, objects, policy);
        }

        Caps withObjects(long newObjects) {
            return new Caps(bytes, newObjects, policy);
        }
    }

    private static final int LENGTH = 5000;
    private static final int KEYS = 24;
    private static final int THREADS = 4;

    /** Where the tier's objects are kept. */
    @TempDir
    protected Path place;

    /** The tier under test. */
    protected TierAdapter tier;

    /** Its key spaces. */
    protected KeySpaces spaces = new KeySpaces();

    /** Some keys. */
    protected ObjectKeys keys;

    /** Opens the tier over a place. */
    protected abstract TierAdapter open(Path at, Caps caps, KeySpaces registry) throws TierException;

    /** Returns what an object of so many bytes takes of the capacity. */
    protected abstract long heldBytes(long payloadBytes);

    @BeforeEach
    void openUnlimited() throws TierException {
        keys = TestObjects.keys(spaces, TestObjects.space("salt"), KEYS);
        tier = open(place, Caps.NONE, spaces);
    }

    @AfterEach
    void close() {
        tier.close();
    }

    /** Closes the tier and opens its place anew, with an empty registry. */
    protected void restart(Caps caps) throws TierException {
        tier.close();
        spaces = new KeySpaces();
        keys = TestObjects.keys(spaces, TestObjects.space("salt"), KEYS);
        tier = open(place, caps, spaces);
    }

    @Test
    void storedObjectIsFoundAndLoaded() {
        assertThat(tier.contains(keys, 0)).isFalse();
        assertThat(tier.lease(keys, 0)).isEqualTo(TierAdapter.NO_LEASE);
        assertThat(store(0)).isEqualTo(StoreOutcome.STORED);
        assertThat(tier.contains(keys, 0)).isTrue();
        assertHolds(0);
        assertThat(tier.keySpaces()).containsExactly(keys.space());
        assertThat(tier.status().storedBytes()).isEqualTo(LENGTH);
        assertThat(tier.status().readBytes()).isEqualTo(LENGTH);
    }

    @Test
    void leaseKnowsLengthAndChecksum() {
        store(0);
        long lease = tier.lease(keys, 0);
        assertThat(tier.length(lease)).isEqualTo(LENGTH);
        assertThat(tier.checksum(lease)).isEqualTo(Crc32c.of(TestObjects.content(0, LENGTH)));
        assertThat(tier.status().leases()).isEqualTo(1);
        tier.release(lease);
        assertThat(tier.status().leases()).isZero();
    }

    @Test
    void objectsOfAnyLengthComeBack() {
        int[] lengths = {1, 2, 4095, 4096, 4097, 8191, 8192, 8193, 100_000};
        for (int i = 0; i < lengths.length; i++) {
            assertThat(TestObjects.store(tier, keys, i, lengths[i])).isEqualTo(StoreOutcome.STORED);
            assertThat(TestObjects.load(tier, keys, i)).isEqualTo(TestObjects.bytes(i, lengths[i]));
        }
    }

    @Test
    void nativeMemoryIsStoredAndFilled() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(LENGTH).copyFrom(TestObjects.content(0, LENGTH));
            assertThat(tier.store(keys, 0, memory, Crc32c.of(memory))).isEqualTo(StoreOutcome.STORED);
            memory.fill((byte) 0);
            long lease = tier.lease(keys, 0);
            assertThat(tier.load(lease, memory)).isEqualTo(LoadOutcome.LOADED);
            tier.release(lease);
            assertThat(memory.mismatch(TestObjects.content(0, LENGTH))).isEqualTo(-1);
        }
    }

    @Test
    void secondStoreIsPresentAndChangesNothing() {
        store(0);
        TierStatus before = tier.status();
        assertThat(TestObjects.store(tier, keys, 0, LENGTH + 1)).isEqualTo(StoreOutcome.PRESENT);
        assertThat(tier.status()).isEqualTo(before);
        assertHolds(0);
    }

    @Test
    void deletedObjectIsGoneAndItsSpaceFree() {
        store(0);
        assertThat(tier.delete(keys, 0)).isTrue();
        assertThat(tier.contains(keys, 0)).isFalse();
        assertThat(tier.delete(keys, 0)).isFalse();
        assertThat(tier.touch(keys, 0)).isFalse();
        assertThat(tier.status().bytes()).isZero();
        assertThat(tier.status().objects()).isZero();
        assertThat(store(0)).isEqualTo(StoreOutcome.STORED);
        assertHolds(0);
    }

    @Test
    void touchSavesTheOldest() throws TierException {
        restart(Caps.NONE.withObjects(2));
        store(0);
        store(1);
        assertThat(tier.touch(keys, 0)).isTrue();
        store(2);
        assertThat(held()).containsExactly(0, 2);
        assertThat(tier.status().evictions()).isEqualTo(1);
    }

    @Test
    void presentStoreSavesTheOldest() throws TierException {
        restart(Caps.NONE.withObjects(2));
        store(0);
        store(1);
        assertThat(store(0)).isEqualTo(StoreOutcome.PRESENT);
        store(2);
        assertThat(held()).containsExactly(0, 2);
    }

    @Test
    void exactCapacityIsEnough() throws TierException {
        restart(Caps.NONE.withBytes(heldBytes(LENGTH)));
        assertThat(store(0)).isEqualTo(StoreOutcome.STORED);
        restart(Caps.NONE.withBytes(heldBytes(LENGTH)));
        assertThat(held()).containsExactly(0);
        restart(Caps.NONE.withBytes(heldBytes(LENGTH) - 1));
        assertThat(held()).isEmpty();
        assertThat(store(0)).isEqualTo(StoreOutcome.NO_SPACE);
        assertThat(tier.status().refused()).isEqualTo(1);
    }

    @Test
    void objectLargerThanTheTierEvictsNothing() throws TierException {
        restart(Caps.NONE.withBytes(3 * heldBytes(LENGTH)));
        store(0);
        store(1);
        TierStatus before = tier.status();
        assertThat(TestObjects.store(tier, keys, 2, (int) (3 * heldBytes(LENGTH)) + 1))
                .isEqualTo(StoreOutcome.NO_SPACE);
        assertThat(tier.status()).isEqualTo(refusedOnceMore(before));
        assertThat(held()).containsExactly(0, 1);
    }

    @ParameterizedTest
    @EnumSource(EvictionPolicy.Kind.class)
    void leasedObjectStaysWhereItIsInTheOrder(EvictionPolicy.Kind policy) throws TierException {
        restart(new Caps(Long.MAX_VALUE, 3, policy));
        store(0);
        store(1);
        store(2);
        long lease = tier.lease(keys, 0);
        store(3);
        assertThat(held()).containsExactly(0, 2, 3);
        tier.release(lease);
        store(4);
        assertThat(held()).containsExactly(2, 3, 4);
    }

    @Test
    void refusalChangesNothingWhereAllIsLeased() throws TierException {
        restart(Caps.NONE.withObjects(3));
        long[] leases = new long[3];
        for (int i = 0; i < 3; i++) {
            store(i);
            leases[i] = tier.lease(keys, i);
        }
        TierStatus before = tier.status();
        assertThat(store(3)).isEqualTo(StoreOutcome.NO_SPACE);
        assertThat(tier.status()).isEqualTo(refusedOnceMore(before));
        assertThat(held()).containsExactly(0, 1, 2);
        tier.release(leases[1]);
        assertThat(store(3)).isEqualTo(StoreOutcome.STORED);
        assertThat(held()).containsExactly(0, 2, 3);
        tier.release(leases[0]);
        tier.release(leases[2]);
    }

    @Test
    void partOfTheRoomIsNotTakenWhereAllOfItCannotBe() throws TierException {
        restart(Caps.NONE.withBytes(4 * heldBytes(LENGTH)));
        for (int i = 0; i < 4; i++) {
            store(i);
        }
        long first = tier.lease(keys, 0);
        long second = tier.lease(keys, 1);
        assertThat(TestObjects.store(tier, keys, 5, (int) (2 * heldBytes(LENGTH)) + 1))
                .isEqualTo(StoreOutcome.NO_SPACE);
        assertThat(held()).containsExactly(0, 1, 2, 3);
        tier.release(first);
        tier.release(second);
    }

    @Test
    void deleteUnderALeaseKeepsTheBytesUntilItsRelease() throws TierException {
        store(0);
        long first = tier.lease(keys, 0);
        long second = tier.lease(keys, 0);
        assertThat(tier.delete(keys, 0)).isTrue();
        assertThat(tier.contains(keys, 0)).isFalse();
        assertThat(tier.lease(keys, 0)).isEqualTo(TierAdapter.NO_LEASE);
        assertThat(tier.delete(keys, 0)).isFalse();
        assertThat(store(0)).isEqualTo(StoreOutcome.BUSY);
        assertThat(tier.status().bytes()).isEqualTo(heldBytes(LENGTH));
        tier.release(first);
        assertLoads(second, 0);
        tier.release(second);
        assertThat(tier.status().bytes()).isZero();
        restart(Caps.NONE);
        assertThat(held()).isEmpty();
        assertThat(store(0)).isEqualTo(StoreOutcome.STORED);
    }

    @Test
    void hiddenObjectCountsUntilItIsGone() throws TierException {
        restart(Caps.NONE.withObjects(1));
        store(0);
        long lease = tier.lease(keys, 0);
        tier.delete(keys, 0);
        assertThat(store(1)).isEqualTo(StoreOutcome.NO_SPACE);
        tier.release(lease);
        assertThat(store(1)).isEqualTo(StoreOutcome.STORED);
    }

    @Test
    void keySpacesNeverSeeEachOther() throws TierException {
        List<KeySpace> all = unlikeKeySpaces();
        for (int i = 0; i < all.size(); i++) {
            ObjectKeys one = TestObjects.keys(spaces, all.get(i), 1);
            assertThat(tier.contains(one, 0)).as("%s", all.get(i)).isFalse();
            assertThat(TestObjects.storeAs(tier, one, 0, 1000 + i, LENGTH)).isEqualTo(StoreOutcome.STORED);
        }
        assertEachHasItsOwn(all);
        restart(Caps.NONE);
        assertThat(tier.keySpaces()).containsExactlyInAnyOrderElementsOf(all);
        assertEachHasItsOwn(all);
    }

    @Test
    void deleteInOneKeySpaceLeavesTheOthers() {
        ObjectKeys other = TestObjects.keys(spaces, TestObjects.space("other"), 1);
        store(0);
        assertThat(tier.delete(other, 0)).isFalse();
        assertThat(TestObjects.store(tier, other, 0, LENGTH)).isEqualTo(StoreOutcome.STORED);
        assertThat(tier.delete(keys, 0)).isTrue();
        assertThat(tier.contains(other, 0)).isTrue();
        assertThat(tier.keySpaces()).containsExactly(other.space());
    }

    @Test
    void restartKeepsEverything() throws TierException {
        for (int i = 0; i < KEYS; i++) {
            TestObjects.store(tier, keys, i, 1 + i * 1000);
        }
        TierStatus before = tier.status();
        restart(Caps.NONE);
        assertThat(tier.status().recovered()).isEqualTo(KEYS);
        assertThat(tier.status().objects()).isEqualTo(KEYS);
        assertThat(tier.status().bytes()).isEqualTo(before.bytes());
        assertThat(tier.status().degraded()).isFalse();
        for (int i = 0; i < KEYS; i++) {
            assertThat(TestObjects.load(tier, keys, i)).isEqualTo(TestObjects.bytes(i, 1 + i * 1000));
        }
    }

    @Test
    void restartWithLessCapacityDropsTheOldestWritten() throws TierException {
        for (int i = 0; i < 6; i++) {
            store(i);
        }
        tier.touch(keys, 0);
        restart(Caps.NONE.withObjects(4));
        assertThat(held()).containsExactly(2, 3, 4, 5);
        restart(Caps.NONE.withBytes(2 * heldBytes(LENGTH)));
        assertThat(held()).containsExactly(4, 5);
        assertThat(tier.status().evictions()).isEqualTo(2);
        restart(Caps.NONE);
        assertThat(held()).containsExactly(4, 5);
    }

    @Test
    void laterRestartsKnowTheOrderOfWriting() throws TierException {
        store(2);
        restart(Caps.NONE);
        store(1);
        restart(Caps.NONE);
        store(0);
        restart(Caps.NONE.withObjects(2));
        assertThat(held()).containsExactly(0, 1);
    }

    @Test
    void closedTierAnswersNothing() throws TierException {
        store(0);
        long lease = tier.lease(keys, 0);
        tier.close();
        tier.close();
        assertThat(tier.contains(keys, 0)).isFalse();
        assertThat(tier.touch(keys, 0)).isFalse();
        assertThat(tier.lease(keys, 0)).isEqualTo(TierAdapter.NO_LEASE);
        assertThat(tier.delete(keys, 0)).isFalse();
        assertThat(store(0)).isEqualTo(StoreOutcome.FAILED);
        assertThat(store(1)).isEqualTo(StoreOutcome.FAILED);
        tier.release(lease);
        restart(Caps.NONE);
        assertThat(held()).containsExactly(0);
    }

    @Test
    void destinationOfAnotherLengthIsRefused() {
        store(0);
        long lease = tier.lease(keys, 0);
        for (int length : new int[] {0, LENGTH - 1, LENGTH + 1}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> tier.load(lease, MemorySegment.ofArray(new byte[length])))
                    .withMessageContaining(LENGTH + " bytes");
        }
        assertLoads(lease, 0);
        tier.release(lease);
    }

    @Test
    void releasedLeaseIsRefused() {
        store(0);
        long lease = tier.lease(keys, 0);
        tier.release(lease);
        assertDead(lease);
        tier.delete(keys, 0);
        assertDead(lease);
        store(1);
        long other = tier.lease(keys, 1);
        assertDead(lease);
        assertLoads(other, 1);
        tier.release(other);
    }

    @ParameterizedTest
    @EnumSource(EvictionPolicy.Kind.class)
    void randomOperationsFollowTheModel(EvictionPolicy.Kind policy) throws TierException {
        long seed = System.nanoTime();
        System.out.println("randomOperationsFollowTheModel " + policy + " seed " + seed);
        SplittableRandom random = new SplittableRandom(seed);
        Caps caps = new Caps(6 * heldBytes(2 * LENGTH), 8, policy);
        TierModel model = new TierModel(caps, this::heldBytes);
        restart(caps);
        List<long[]> leases = new ArrayList<>();
        for (int step = 0; step < 1500; step++) {
            randomStep(random, model, caps, leases);
            assertEquals(model, caps, "seed " + seed + " step " + step);
        }
    }

    @Test
    void oneOfManyConcurrentStoresWrites() throws Exception {
        for (int round = 0; round < 10; round++) {
            int key = round;
            CyclicBarrier start = new CyclicBarrier(THREADS);
            List<StoreOutcome> outcomes = inThreads(_ -> {
                start.await();
                return store(key);
            });
            assertThat(Collections.frequency(outcomes, StoreOutcome.STORED)).isEqualTo(1);
            assertThat(outcomes).doesNotContain(StoreOutcome.FAILED, StoreOutcome.NO_SPACE);
            assertHolds(key);
        }
        assertThat(tier.status().bytes()).isEqualTo(10 * heldBytes(LENGTH));
    }

    @Test
    void manyThreadsNeverSeeWrongBytes() throws Exception {
        long seed = System.nanoTime();
        System.out.println("manyThreadsNeverSeeWrongBytes seed " + seed);
        Caps caps = new Caps(6 * heldBytes(LENGTH), 8, EvictionPolicy.Kind.LRU);
        restart(caps);
        inThreads(thread -> {
            SplittableRandom random = new SplittableRandom(seed + thread);
            for (int step = 0; step < 500; step++) {
                randomConcurrentStep(random);
                assertThat(tier.status().objects()).isLessThanOrEqualTo(caps.objects());
            }
            return null;
        });
        assertSoundAfterTheRun(caps, seed);
        List<Integer> before = held();
        restart(caps);
        assertThat(held()).isEqualTo(before);
        before.forEach(this::assertHolds);
    }

    /** Stores an object under a key's number. */
    protected StoreOutcome store(int number) {
        return TestObjects.store(tier, keys, number, LENGTH);
    }

    /** Returns the numbers of the keys that are found. */
    protected List<Integer> held() {
        List<Integer> held = new ArrayList<>();
        for (int i = 0; i < keys.size(); i++) {
            if (tier.contains(keys, i)) {
                held.add(i);
            }
        }
        return held;
    }

    private void assertHolds(int number) {
        assertThat(TestObjects.load(tier, keys, number)).isEqualTo(TestObjects.bytes(number, LENGTH));
    }

    private void assertLoads(long lease, int number) {
        byte[] bytes = new byte[LENGTH];
        assertThat(tier.load(lease, MemorySegment.ofArray(bytes))).isEqualTo(LoadOutcome.LOADED);
        assertThat(bytes).isEqualTo(TestObjects.bytes(number, LENGTH));
    }

    private void assertDead(long lease) {
        assertThatIllegalStateException().isThrownBy(() -> tier.release(lease));
        assertThatIllegalStateException().isThrownBy(() -> tier.length(lease));
        assertThatIllegalStateException().isThrownBy(() -> tier.checksum(lease));
        assertThatIllegalStateException().isThrownBy(() -> tier.load(lease, MemorySegment.ofArray(new byte[LENGTH])));
    }

    private void assertEachHasItsOwn(List<KeySpace> all) {
        for (int i = 0; i < all.size(); i++) {
            ObjectKeys one = TestObjects.keys(spaces, all.get(i), 1);
            assertThat(TestObjects.load(tier, one, 0)).isEqualTo(TestObjects.bytes(1000 + i, LENGTH));
        }
    }

    private static TierStatus refusedOnceMore(TierStatus s) {
        return new TierStatus(
                s.name(),
                s.objects(),
                s.bytes(),
                s.maxObjects(),
                s.maxBytes(),
                s.leases(),
                s.recovered(),
                s.evictions(),
                s.storedBytes(),
                s.readBytes(),
                s.refused() + 1,
                s.missing(),
                s.corrupt(),
                s.quarantined(),
                s.foreign(),
                s.failures(),
                s.fault());
    }

    private void randomStep(SplittableRandom random, TierModel model, Caps caps, List<long[]> leases)
            throws TierException {
        int key = random.nextInt(KEYS);
        switch (random.nextInt(20)) {
            case 0, 1 -> assertThat(tier.delete(keys, key)).isEqualTo(model.delete(key));
            case 2, 3, 4 -> assertThat(tier.touch(keys, key)).isEqualTo(model.touch(key));
            case 5, 6, 7 -> leaseAndLoad(model, key, leases);
            case 8, 9, 10, 11 -> releaseOne(random, model, leases);
            case 12 -> restartUnleased(random, model, caps, leases);
            default -> {
                int length = 1 + random.nextInt(2 * LENGTH);
                assertThat(TestObjects.store(tier, keys, key, length)).isEqualTo(model.store(key, length));
            }
        }
    }

    private void leaseAndLoad(TierModel model, int key, List<long[]> leases) {
        long lease = tier.lease(keys, key);
        assertThat(lease != TierAdapter.NO_LEASE).isEqualTo(model.contains(key));
        if (lease != TierAdapter.NO_LEASE) {
            model.lease(key);
            leases.add(new long[] {key, lease});
            verify(lease, key, model.length(key));
        }
    }

    private void releaseOne(SplittableRandom random, TierModel model, List<long[]> leases) {
        if (!leases.isEmpty()) {
            long[] entry = leases.remove(random.nextInt(leases.size()));
            int key = (int) entry[0];
            verify(entry[1], key, model.length(key));
            tier.release(entry[1]);
            model.release(key);
        }
    }

    private void restartUnleased(SplittableRandom random, TierModel model, Caps caps, List<long[]> leases)
            throws TierException {
        while (!leases.isEmpty()) {
            releaseOne(random, model, leases);
        }
        restart(caps);
        model.restart();
    }

    private void verify(long lease, int key, int length) {
        byte[] bytes = new byte[length];
        assertThat(tier.load(lease, MemorySegment.ofArray(bytes))).isEqualTo(LoadOutcome.LOADED);
        assertThat(bytes).isEqualTo(TestObjects.bytes(key, length));
    }

    private void assertEquals(TierModel model, Caps caps, String when) {
        for (int key = 0; key < KEYS; key++) {
            assertThat(tier.contains(keys, key)).as("%s key %d", when, key).isEqualTo(model.contains(key));
        }
        TierStatus status = tier.status();
        assertThat(status.bytes()).as(when).isEqualTo(model.bytes()).isLessThanOrEqualTo(caps.bytes());
        assertThat(status.objects()).as(when).isEqualTo(model.objects()).isLessThanOrEqualTo(caps.objects());
    }

    private void randomConcurrentStep(SplittableRandom random) {
        int key = random.nextInt(KEYS / 2);
        switch (random.nextInt(8)) {
            case 0 -> tier.delete(keys, key);
            case 1 -> tier.touch(keys, key);
            case 2, 3, 4 -> verifyIfThere(key);
            default -> assertThat(store(key)).isNotEqualTo(StoreOutcome.FAILED);
        }
    }

    private void verifyIfThere(int key) {
        long lease = tier.lease(keys, key);
        if (lease != TierAdapter.NO_LEASE) {
            assertLoads(lease, key);
            tier.release(lease);
        }
    }

    private void assertSoundAfterTheRun(Caps caps, long seed) {
        TierStatus status = tier.status();
        assertThat(status.bytes())
                .as("seed %d", seed)
                .isEqualTo(held().size() * heldBytes(LENGTH))
                .isLessThanOrEqualTo(caps.bytes());
        assertThat(status.leases()).isZero();
        assertThat(status.missing() + status.corrupt() + status.failures()).isZero();
        assertThat(status.degraded()).isFalse();
    }

    /** A task of one of several threads. */
    private interface ThreadTask<T> {
        T run(int thread) throws Exception;
    }

    private static <T> List<T> inThreads(ThreadTask<T> task) throws Exception {
        try (ExecutorService executor = Executors.newFixedThreadPool(THREADS)) {
            List<Callable<T>> tasks = new ArrayList<>();
            for (int thread = 0; thread < THREADS; thread++) {
                int number = thread;
                tasks.add(() -> task.run(number));
            }
            List<T> results = new ArrayList<>();
            for (Future<T> future : executor.invokeAll(tasks)) {
                results.add(future.get());
            }
            return results;
        }
    }

    /** Key spaces that differ from the first one in one field each. */
    private static List<KeySpace> unlikeKeySpaces() {
        CacheIdentity id = new CacheIdentity("m", "r", "a", "h", 16, 64, layout(KvFormat.KEY_VALUE, 4), 4);
        List<KeySpace> all = new ArrayList<>();
        all.add(space(id));
        all.add(space(new CacheIdentity("m2", "r", "a", "h", 16, 64, id.layout(), 4)));
        all.add(space(new CacheIdentity("m", "r2", "a", "h", 16, 64, id.layout(), 4)));
        all.add(space(new CacheIdentity("m", "r", "a2", "h", 16, 64, id.layout(), 4)));
        all.add(space(new CacheIdentity("m", "r", "", "h", 16, 64, id.layout(), 4)));
        all.add(space(new CacheIdentity("m", "ra", "", "h", 16, 64, id.layout(), 4)));
        all.add(space(new CacheIdentity("m", "r", "a", "h2", 16, 64, id.layout(), 4)));
        all.add(space(new CacheIdentity("m", "r", "a", "h", 16, 65, id.layout(), 4)));
        all.add(space(new CacheIdentity("m", "r", "a", "h", 16, 64, id.layout(), 5)));
        all.add(space(new CacheIdentity("m", "r", "a", "h", 16, 64, layout(KvFormat.OPAQUE, 4), 4)));
        all.add(space(new CacheIdentity("m", "r", "a", "h", 16, 64, layout(KvFormat.KEY_VALUE, 5), 4)));
        addUnlikeLayouts(id, all);
        all.add(new KeySpace(id, 2, 0, 0, "s", Map.of()));
        all.add(new KeySpace(id, 1, 1, 0, "s", Map.of()));
        all.add(new KeySpace(id, 1, 0, 1, "s", Map.of()));
        all.add(new KeySpace(id, 1, 0, KeySpace.ALL_LAYERS, "s", Map.of()));
        all.add(new KeySpace(id, 1, 0, 0, "s2", Map.of()));
        all.add(new KeySpace(id, 1, 0, 0, "", Map.of()));
        all.add(new KeySpace(id, 1, 0, 0, "s", Map.of("k", "v")));
        all.add(new KeySpace(id, 1, 0, 0, "s", Map.of("k", "w")));
        all.add(new KeySpace(id, 1, 0, 0, "s", Map.of("kv", "")));
        all.add(new KeySpace(id, 1, 0, 0, "s", Map.of("k", "v", "l", "v")));
        return all;
    }

    private static void addUnlikeLayouts(CacheIdentity id, List<KeySpace> all) {
        KvFormat format = KvFormat.KEY_VALUE;
        for (KvLayout layout : List.of(
                new KvLayout(format, ElementType.BF16, 4, 2, 8, 2),
                new KvLayout(format, ElementType.F16, 4, 3, 8, 2),
                new KvLayout(format, ElementType.F16, 4, 2, 9, 2),
                new KvLayout(format, ElementType.F16, 4, 2, 8, 3))) {
            all.add(space(new CacheIdentity("m", "r", "a", "h", 16, 64, layout, 4)));
        }
    }

    private static KvLayout layout(KvFormat format, int layers) {
        return new KvLayout(format, ElementType.F16, layers, 2, 8, 2);
    }

    private static KeySpace space(CacheIdentity identity) {
        return new KeySpace(identity, 1, 0, 0, "s", Map.of());
    }
}
