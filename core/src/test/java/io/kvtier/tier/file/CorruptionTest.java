package io.kvtier.tier.file;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvtier.object.KeySpaces;
import io.kvtier.object.ObjectKeys;
import io.kvtier.tier.FileTierConfig;
import io.kvtier.tier.LoadOutcome;
import io.kvtier.tier.StoreOutcome;
import io.kvtier.tier.TestObjects;
import io.kvtier.tier.TierAdapter;
import io.kvtier.tier.TierException;
import io.kvtier.tier.TierStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whatever happens to the files, wrong bytes are never delivered, and the tier goes on. */
class CorruptionTest {
    private static final int LENGTH = 5000;
    private static final long HELD = 4096 + 8192;

    @TempDir
    Path folder;

    private KeySpaces spaces = new KeySpaces();
    private ObjectKeys keys;
    private TierAdapter tier;

    @BeforeEach
    void openUnlimited() throws TierException {
        open(FileTierConfig.in(folder));
    }

    @AfterEach
    void close() {
        tier.close();
    }

    @Test
    void flippedByteIsFoundWhenTheRecordIsRead() throws IOException {
        int[] places = {0, 7, 8, 12, 16, 20, 24, 32, 40, 44, 48, 72, 128, 159, 160, 164, 200, 4095, 4096, 6000, 9095};
        for (int at : places) {
            assertFoundAtRead("byte " + at, bytes -> flipped(bytes, at));
        }
    }

    @Test
    void changedTimeOrSequenceIsDamageToo() throws IOException {
        assertFoundAtRead("sequence", bytes -> flipped(bytes, 56));
        assertFoundAtRead("time", bytes -> flipped(bytes, 64));
    }

    @Test
    void flippedHeaderByteIsFoundAtTheStart() throws IOException {
        for (int at : new int[] {0, 8, 16, 20, 24, 40, 56, 128, 160, 164, 300, 4095}) {
            assertFoundAtTheStart("byte " + at, bytes -> flipped(bytes, at));
        }
    }

    @Test
    void flippedPayloadByteIsFoundAfterARestart() throws IOException {
        TestObjects.store(tier, keys, 0, LENGTH);
        change(path(0), bytes -> flipped(bytes, 5000));
        restart();
        assertThat(tier.contains(keys, 0)).isTrue();
        assertDamaged("payload");
    }

    @Test
    void truncatedRecordIsFound() throws IOException {
        for (int length : new int[] {0, 1, 163, 4095, 4096, 4097, 8192, 9095}) {
            assertFoundAtRead(length + " bytes", bytes -> Arrays.copyOf(bytes, length));
            assertFoundAtTheStart(length + " bytes", bytes -> Arrays.copyOf(bytes, length));
        }
    }

    @Test
    void appendedBytesAreFound() throws IOException {
        for (int more : new int[] {1, 3192, 100_000}) {
            assertFoundAtRead(more + " bytes more", bytes -> Arrays.copyOf(bytes, bytes.length + more));
            assertFoundAtTheStart(more + " bytes more", bytes -> Arrays.copyOf(bytes, bytes.length + more));
        }
    }

    @Test
    void swappedRecordsAreFoundWhenTheyAreRead() throws IOException {
        storeAndSwap();
        assertThat(TestObjects.outcome(tier, keys, 0)).isEqualTo(LoadOutcome.CORRUPT);
        assertThat(TestObjects.outcome(tier, keys, 1)).isEqualTo(LoadOutcome.CORRUPT);
        assertGoneAndStorableAgain(2);
    }

    @Test
    void swappedRecordsAreFoundAtTheStart() throws IOException {
        storeAndSwap();
        restart();
        assertThat(tier.status().recovered()).isZero();
        assertGoneAndStorableAgain(2);
    }

    @Test
    void foreignFileAmongTheRecordsGoesToQuarantine() throws IOException {
        TestObjects.store(tier, keys, 0, LENGTH);
        Files.writeString(folder.resolve("objects/note.txt"), "a note");
        Files.writeString(path(0).resolveSibling("ab.kvt"), "no record");
        Files.createDirectories(path(0).resolveSibling("folder/deep"));
        Files.copy(path(0), path(0).resolveSibling("copy.kvt"));
        restart();
        assertThat(tier.status().corrupt()).isEqualTo(4);
        assertThat(tier.status().quarantined()).isEqualTo(4);
        assertThat(tier.status().foreign()).isZero();
        assertThat(TestObjects.load(tier, keys, 0)).isEqualTo(TestObjects.bytes(0, LENGTH));
        assertThat(list(path(0).getParent())).containsExactly(path(0));
    }

    @Test
    void foreignFileInTheFolderStays() throws IOException {
        Files.writeString(folder.resolve("notes.txt"), "a note");
        Files.createDirectory(folder.resolve("folder.kvt"));
        Files.writeString(folder.resolve("stray.kvt"), "not where records lie");
        restart();
        assertThat(tier.status().foreign()).isEqualTo(2);
        assertThat(tier.status().corrupt()).isEqualTo(1);
        assertThat(folder.resolve("notes.txt")).hasContent("a note");
        assertThat(folder.resolve("folder.kvt")).isDirectory();
        assertThat(folder.resolve("stray.kvt")).doesNotExist();
        assertThat(list(folder.resolve("quarantine")))
                .singleElement()
                .satisfies(path -> assertThat(path).hasContent("not where records lie"));
    }

    @Test
    void fileDeletedBehindTheTiersBackIsMissing() throws IOException {
        TestObjects.store(tier, keys, 0, LENGTH);
        Files.delete(path(0));
        assertThat(TestObjects.outcome(tier, keys, 0)).isEqualTo(LoadOutcome.MISSING);
        assertThat(tier.contains(keys, 0)).isFalse();
        TierStatus status = tier.status();
        assertThat(status.missing()).isEqualTo(1);
        assertThat(status.corrupt()).isZero();
        assertThat(status.bytes()).isZero();
        assertThat(status.degraded()).isFalse();
        assertStorableAgain(0);
    }

    @Test
    void leftoversOfAKilledWriterAreRemoved() throws IOException {
        TestObjects.store(tier, keys, 0, LENGTH);
        Files.copy(path(0), folder.resolve("tmp/record-0"));
        Files.writeString(folder.resolve("tmp/record-17"), "half");
        restart();
        assertThat(folder.resolve("tmp")).isEmptyDirectory();
        assertThat(tier.status().corrupt() + tier.status().foreign()).isZero();
        assertThat(tier.status().objects()).isEqualTo(1);
        TestObjects.store(tier, keys, 1, LENGTH);
        assertThat(TestObjects.load(tier, keys, 1)).isEqualTo(TestObjects.bytes(1, LENGTH));
    }

    @Test
    void quarantineKeepsAtMost64Files() throws IOException {
        for (int i = 0; i < 70; i++) {
            Files.writeString(folder.resolve("stray-" + i + ".kvt"), "no record");
        }
        restart();
        assertThat(tier.status().corrupt()).isEqualTo(70);
        assertThat(tier.status().quarantined()).isEqualTo(64);
        assertThat(list(folder.resolve("quarantine"))).hasSize(64);
        assertThat(tier.status().bytes()).isEqualTo(64 * 4096);
        restart();
        assertThat(tier.status().corrupt()).isZero();
        assertThat(tier.status().quarantined()).isEqualTo(64);
        assertThat(tier.status().bytes()).isEqualTo(64 * 4096);
    }

    @Test
    void quarantineGivesWayToAStore() throws IOException {
        tier.close();
        open(FileTierConfig.in(folder).withMaxBytes(2 * HELD));
        TestObjects.store(tier, keys, 0, LENGTH);
        change(path(0), bytes -> flipped(bytes, 5000));
        assertThat(TestObjects.outcome(tier, keys, 0)).isEqualTo(LoadOutcome.CORRUPT);
        assertThat(tier.status().bytes()).isEqualTo(HELD);
        TestObjects.store(tier, keys, 1, LENGTH);
        assertThat(tier.status().quarantined()).isEqualTo(1);
        TestObjects.store(tier, keys, 2, LENGTH);
        assertThat(tier.status().quarantined()).isZero();
        assertThat(tier.status().evictions()).isZero();
        assertThat(tier.status().bytes()).isEqualTo(2 * HELD);
        assertThat(folder.resolve("quarantine")).isEmptyDirectory();
    }

    @Test
    void leaseOnADamagedRecordCanBeGivenBack() throws IOException {
        TestObjects.store(tier, keys, 0, LENGTH);
        change(path(0), bytes -> flipped(bytes, 5000));
        long other = tier.lease(keys, 0);
        assertThat(TestObjects.outcome(tier, keys, 0)).isEqualTo(LoadOutcome.CORRUPT);
        assertThat(TestObjects.store(tier, keys, 0, LENGTH)).isEqualTo(StoreOutcome.BUSY);
        tier.release(other);
        assertGoneAndStorableAgain(1);
    }

    private interface Change {
        byte[] of(byte[] bytes);
    }

    private void assertFoundAtRead(String what, Change change) throws IOException {
        fresh();
        TestObjects.store(tier, keys, 0, LENGTH);
        change(path(0), change);
        assertDamaged(what);
    }

    private void assertDamaged(String what) throws IOException {
        assertThat(TestObjects.outcome(tier, keys, 0)).as(what).isEqualTo(LoadOutcome.CORRUPT);
        assertGoneAndStorableAgain(1);
    }

    private void assertFoundAtTheStart(String what, Change change) throws IOException {
        fresh();
        TestObjects.store(tier, keys, 0, LENGTH);
        change(path(0), change);
        restart();
        assertThat(tier.status().recovered()).as(what).isZero();
        assertGoneAndStorableAgain(1);
    }

    private void assertGoneAndStorableAgain(int damaged) throws IOException {
        assertThat(tier.contains(keys, 0)).isFalse();
        assertThat(tier.status().objects()).isZero();
        assertThat(tier.status().corrupt()).isEqualTo(damaged);
        assertThat(tier.status().quarantined()).isEqualTo(damaged);
        assertThat(list(folder.resolve("quarantine"))).hasSize(damaged);
        assertThat(tier.status().degraded()).isFalse();
        assertThat(path(0)).doesNotExist();
        assertStorableAgain(0);
    }

    private void assertStorableAgain(int number) {
        assertThat(TestObjects.store(tier, keys, number, LENGTH)).isEqualTo(StoreOutcome.STORED);
        assertThat(TestObjects.load(tier, keys, number)).isEqualTo(TestObjects.bytes(number, LENGTH));
    }

    private void storeAndSwap() throws IOException {
        TestObjects.store(tier, keys, 0, LENGTH);
        TestObjects.store(tier, keys, 1, LENGTH);
        Path aside = folder.resolve("aside");
        Files.move(path(0), aside);
        Files.move(path(1), path(0), StandardCopyOption.ATOMIC_MOVE);
        Files.move(aside, path(1), StandardCopyOption.ATOMIC_MOVE);
    }

    /** Returns where the format wants a key's record. */
    private Path path(int number) {
        byte[] hash = keys.key(number).chunkHash().bytes();
        byte[] space = io.kvtier.object.KeySpaceEncoding.encode(keys.space());
        return new RecordKey(space, Arrays.copyOf(hash, 32)).path(folder.resolve("objects"));
    }

    private static void change(Path path, Change change) throws IOException {
        byte[] changed = change.of(Files.readAllBytes(path));
        Files.write(path, changed, StandardOpenOption.TRUNCATE_EXISTING);
    }

    private static byte[] flipped(byte[] bytes, int at) {
        bytes[at] ^= 0x10;
        return bytes;
    }

    private static List<Path> list(Path directory) throws IOException {
        try (Stream<Path> paths = Files.list(directory)) {
            return paths.toList();
        }
    }

    private void fresh() throws IOException {
        tier.delete(keys, 0);
        tier.close();
        for (Path path : list(folder.resolve("quarantine"))) {
            Files.delete(path);
        }
        restart();
    }

    private void restart() throws TierException {
        tier.close();
        open(FileTierConfig.in(folder));
    }

    private void open(FileTierConfig config) throws TierException {
        spaces = new KeySpaces();
        keys = TestObjects.keys(spaces, TestObjects.space("salt"), 4);
        tier = FileAdapter.open(config, spaces);
    }
}
