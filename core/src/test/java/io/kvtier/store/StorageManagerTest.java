package io.kvtier.store;

import static io.kvtier.store.StoreFixture.BYTES;
import static io.kvtier.store.StoreFixture.config;
import static io.kvtier.store.StoreFixture.holds;
import static io.kvtier.store.StoreFixture.writer;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvtier.object.ObjectKeys;
import io.kvtier.policy.EvictionPolicy;
import io.kvtier.tier.FileTierConfig;
import io.kvtier.tier.StoreOutcome;
import io.kvtier.tier.TierException;
import io.kvtier.tier.TierStatus;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(20)
class StorageManagerTest {
    private static final int MEMORY_OBJECTS = 2;

    @TempDir
    Path folder;

    private StorageManager manager;

    @BeforeEach
    void open() throws TierException {
        manager = StorageManager.open(config(MEMORY_OBJECTS, FileTierConfig.in(folder)));
    }

    @AfterEach
    void nothingIsLeftBehind() {
        manager.close();
        assertThat(manager.memoryStatus().leases()).isZero();
        assertThat(manager.memoryStatus().staged()).isZero();
        assertThat(tierStatus().leases()).isZero();
    }

    @Test
    void lookupTakesTheLeadingRunFromTheFirstTierThatHasIt() {
        store(1, 2, 3);
        try (ObjectLeases leases = new ObjectLeases()) {
            assertThat(manager.lookup(keys(1, 2, 3, 4, 1), leases)).isEqualTo(3);
            assertThat(leases.tier(0)).isEqualTo(1);
            assertThat(leases.tier(1)).isEqualTo(ObjectLeases.MEMORY);
            assertThat(leases.tier(2)).isEqualTo(ObjectLeases.MEMORY);
            assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> leases.tier(3));
            assertThat(manager.memoryStatus().leases()).isEqualTo(2);
            assertThat(tierStatus().leases()).isEqualTo(1);
        }
    }

    @Test
    void recordLostInTheMiddleIsLost() throws IOException {
        store(1);
        Path lost = records().getFirst();
        store(2, 3, 4);
        reopen();
        Files.delete(lost);
        try (ObjectLeases leases = new ObjectLeases()) {
            ObjectKeys keys = keys(2, 1, 3);
            assertThat(manager.lookup(keys, leases)).isEqualTo(3);
            assertThat(manager.promote(keys, leases, 0)).isEqualTo(Promotion.IN_MEMORY);
            assertThat(manager.promote(keys, leases, 1)).isEqualTo(Promotion.LOST);
            assertThat(manager.read(leases, 1, buffer())).isFalse();
            assertThat(leases.tier(1)).isEqualTo(1);
            assertThat(manager.promote(keys, leases, 2)).isEqualTo(Promotion.IN_MEMORY);
        }
        assertThat(manager.contains(keys(1), 0)).isFalse();
        assertThat(tierStatus().objects()).isEqualTo(3);
        assertThat(tierStatus().missing()).isPositive();
        assertThat(manager.memoryStatus().free()).isZero();
    }

    @Test
    void damagedRecordIsLostAndQuarantined() throws IOException {
        store(1);
        Path record = records().getFirst();
        reopen();
        byte[] bytes = Files.readAllBytes(record);
        bytes[bytes.length - 1]++;
        Files.write(record, bytes);
        try (ObjectLeases leases = new ObjectLeases()) {
            ObjectKeys keys = keys(1);
            manager.lookup(keys, leases);
            assertThat(manager.promote(keys, leases, 0)).isEqualTo(Promotion.LOST);
        }
        assertThat(tierStatus().corrupt()).isEqualTo(1);
        assertThat(manager.memoryStatus().free()).isEqualTo(MEMORY_OBJECTS);
        assertThat(manager.store(keys(1), 0, BYTES, writer(1))).isEqualTo(StoreOutcome.STORED);
        assertThat(readBack(1)).isTrue();
    }

    @Test
    void promotionIntoLeasedMemoryHasNoSpace() {
        store(1, 2, 3);
        try (ObjectLeases memory = new ObjectLeases();
                ObjectLeases leases = new ObjectLeases()) {
            assertThat(manager.lookup(keys(2, 3), memory)).isEqualTo(2);
            ObjectKeys keys = keys(1);
            manager.lookup(keys, leases);
            assertThat(manager.promote(keys, leases, 0)).isEqualTo(Promotion.NO_SPACE);
            assertThat(leases.tier(0)).isEqualTo(1);
            MemorySegment bytes = buffer();
            assertThat(manager.read(leases, 0, bytes)).isTrue();
            assertThat(holds(bytes, 1)).isTrue();
            assertThatIllegalStateException()
                    .isThrownBy(() -> manager.segment(leases, 0))
                    .withMessageContaining("promote");
            assertThatIllegalStateException().isThrownBy(() -> manager.verify(leases, 0));
            memory.truncate(0);
            assertThat(manager.promote(keys, leases, 0)).isEqualTo(Promotion.IN_MEMORY);
            assertThat(holds(manager.segment(leases, 0), 1)).isTrue();
            assertThat(manager.verify(leases, 0)).isTrue();
            assertThat(tierStatus().leases()).isZero();
        }
    }

    @Test
    void promotionTakesWhatAnotherHasPromoted() throws IOException {
        store(1);
        reopen();
        ObjectKeys keys = keys(1);
        try (ObjectLeases first = new ObjectLeases();
                ObjectLeases second = new ObjectLeases()) {
            manager.lookup(keys, first);
            manager.lookup(keys, second);
            assertThat(manager.promote(keys, first, 0)).isEqualTo(Promotion.IN_MEMORY);
            assertThat(manager.promote(keys, second, 0)).isEqualTo(Promotion.IN_MEMORY);
            assertThat(manager.promote(keys, second, 0)).isEqualTo(Promotion.IN_MEMORY);
            assertThat(manager.segment(first, 0).address())
                    .isEqualTo(manager.segment(second, 0).address());
        }
        assertThat(tierStatus().readBytes()).isEqualTo(BYTES);
    }

    @Test
    void storeIntoLeasedMemoryReachesNoTier() throws IOException {
        store(1, 2);
        try (ObjectLeases leases = new ObjectLeases()) {
            manager.lookup(keys(1, 2), leases);
            assertThat(manager.store(keys(3), 0, BYTES, writer(3))).isEqualTo(StoreOutcome.NO_SPACE);
        }
        assertThat(manager.contains(keys(3), 0)).isFalse();
        assertThat(records()).hasSize(2);
    }

    @Test
    void writerThatThrowsLeavesNothingBehind() throws IOException {
        RuntimeException thrown = new RuntimeException("the writer's own");
        ObjectWriter failing = object -> {
            StoreFixture.fill(object, 1);
            throw thrown;
        };
        for (int i = 0; i < 2 * MEMORY_OBJECTS; i++) {
            assertThatThrownBy(() -> manager.store(keys(1), 0, BYTES, failing)).isSameAs(thrown);
        }
        assertThat(manager.contains(keys(1), 0)).isFalse();
        assertThat(manager.memoryStatus().free()).isEqualTo(MEMORY_OBJECTS);
        assertThat(records()).isEmpty();
        store(1);
        assertThat(readBack(1)).isTrue();
    }

    @Test
    void secondStoreDoesNotWrite() {
        store(1);
        ObjectWriter never = object -> {
            throw new AssertionError("written twice");
        };
        assertThat(manager.store(keys(1), 0, BYTES, never)).isEqualTo(StoreOutcome.PRESENT);
        assertThat(tierStatus().storedBytes()).isEqualTo(BYTES);
    }

    @Test
    void leasesAreReusedAfterClose() {
        store(1, 2);
        ObjectLeases leases = new ObjectLeases();
        for (int i = 0; i < 3; i++) {
            assertThat(manager.lookup(keys(1, 2), leases)).isEqualTo(2);
            assertThatIllegalStateException()
                    .isThrownBy(() -> manager.lookup(keys(1), leases))
                    .withMessageContaining("still hold 2");
            assertThat(leases.size()).isEqualTo(2);
            leases.close();
            leases.close();
            assertThat(manager.memoryStatus().leases()).isZero();
        }
        assertThatIllegalStateException()
                .isThrownBy(() -> manager.segment(leases, 0))
                .withMessageContaining("closed");
    }

    @Test
    void manyLeasesGrowAndShrink() {
        store(1);
        int[] numbers = Collections.nCopies(40, 1).stream().mapToInt(i -> i).toArray();
        try (ObjectLeases leases = new ObjectLeases()) {
            assertThat(manager.lookup(keys(numbers), leases)).isEqualTo(40);
            leases.truncate(17);
            assertThat(leases.size()).isEqualTo(17);
            assertThat(manager.memoryStatus().leases()).isEqualTo(17);
            assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> leases.truncate(18));
            assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> leases.truncate(-1));
        }
    }

    @Test
    void leasesOfAnotherManagerAreRefused() throws TierException {
        store(1);
        try (StorageManager other = StorageManager.open(config(1));
                ObjectLeases leases = new ObjectLeases()) {
            ObjectKeys keys = keys(1);
            manager.lookup(keys, leases);
            for (ThrowingCallable call : List.<ThrowingCallable>of(
                    () -> other.read(leases, 0, buffer()),
                    () -> other.segment(leases, 0),
                    () -> other.verify(leases, 0),
                    () -> other.promote(keys, leases, 0))) {
                assertThatIllegalStateException().isThrownBy(call).withMessageContaining("another storage manager");
            }
            assertThat(holds(manager.segment(leases, 0), 1)).isTrue();
        }
    }

    @Test
    void readChecksTheDestination() {
        store(1, 2, 3);
        try (ObjectLeases leases = new ObjectLeases()) {
            manager.lookup(keys(1, 2), leases);
            for (int i = 0; i < 2; i++) {
                int index = i;
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> manager.read(leases, index, MemorySegment.ofArray(new byte[BYTES - 1])))
                        .withMessageContaining("100")
                        .withMessageContaining("99");
            }
        }
    }

    @Test
    void closeWaitsForARunningStore() throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        CompletableFuture<StoreOutcome> outcome =
                CompletableFuture.supplyAsync(() -> manager.store(keys(1), 0, BYTES, object -> {
                    inside.countDown();
                    await(goOn);
                    StoreFixture.fill(object, 1);
                }));
        inside.await();
        Thread closer = Thread.ofPlatform().start(manager::close);
        OperationGateTest.awaitWaiting(closer);
        assertThat(closer.isAlive()).isTrue();
        goOn.countDown();
        assertThat(outcome.get()).isEqualTo(StoreOutcome.STORED);
        closer.join();
        reopen();
        assertThat(readBack(1)).isTrue();
    }

    @Test
    void callsAfterCloseThrow() {
        store(1, 2, 3);
        ObjectKeys keys = keys(1, 2);
        ObjectLeases leases = new ObjectLeases();
        manager.lookup(keys, leases);
        manager.close();
        manager.close();
        for (ThrowingCallable call : List.<ThrowingCallable>of(
                () -> manager.lookup(keys, new ObjectLeases()),
                () -> manager.store(keys, 0, BYTES, writer(1)),
                () -> manager.touch(keys, 0),
                () -> manager.contains(keys, 0),
                () -> manager.promote(keys, leases, 0),
                () -> manager.read(leases, 1, buffer()))) {
            assertThatIllegalStateException().isThrownBy(call).withMessageContaining("closed");
        }
        assertThat(holds(manager.segment(leases, 1), 2)).isTrue();
        leases.close();
        assertThatIllegalStateException().isThrownBy(() -> manager.segment(leases, 1));
    }

    @Test
    void failedOpenClosesTheTiersBefore() throws IOException {
        Path good = folder.resolve("good");
        Path file = Files.createFile(folder.resolve("file"));
        StorageConfig wrong = config(1, FileTierConfig.in(good), FileTierConfig.in(file));
        assertThatExceptionOfType(TierException.class).isThrownBy(() -> StorageManager.open(wrong));
        try (StorageManager again = StorageManager.open(config(1, FileTierConfig.in(good)))) {
            assertThat(again.tiers()).hasSize(1);
        }
    }

    @Test
    void settingsAreCheckedWithTheirValues() {
        EvictionPolicy.Kind lru = EvictionPolicy.Kind.LRU;
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new StorageConfig(0, 1, lru, List.of()))
                .withMessageContaining("0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new StorageConfig(1, -5, lru, List.of()))
                .withMessageContaining("-5");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new StorageConfig(1, 1, lru, Collections.nCopies(65, FileTierConfig.in(folder))))
                .withMessageContaining("64")
                .withMessageContaining("65");
    }

    private ObjectKeys keys(int... numbers) {
        return StoreFixture.keys(manager.keySpaces(), numbers);
    }

    private void store(int... numbers) {
        for (int number : numbers) {
            assertThat(manager.store(keys(number), 0, BYTES, writer(number))).isEqualTo(StoreOutcome.STORED);
        }
    }

    private boolean readBack(int number) {
        try (ObjectLeases leases = new ObjectLeases()) {
            MemorySegment bytes = buffer();
            return manager.lookup(keys(number), leases) == 1 && manager.read(leases, 0, bytes) && holds(bytes, number);
        }
    }

    private void reopen() throws IOException {
        manager.close();
        manager = StorageManager.open(config(MEMORY_OBJECTS, FileTierConfig.in(folder)));
    }

    private TierStatus tierStatus() {
        return manager.tierStatus().getFirst();
    }

    private List<Path> records() throws IOException {
        try (Stream<Path> files = Files.walk(folder.resolve("objects"))) {
            return files.filter(Files::isRegularFile).toList();
        }
    }

    private static MemorySegment buffer() {
        return MemorySegment.ofArray(new byte[BYTES]);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
