package io.kvtier.tier.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kvtier.object.KeySpaces;
import io.kvtier.object.ObjectKeys;
import io.kvtier.tier.FileTierConfig;
import io.kvtier.tier.LoadOutcome;
import io.kvtier.tier.TestObjects;
import io.kvtier.tier.TierAdapter;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Odd things in the folder, and what is left to do when the tier closes. */
@SuppressWarnings("try")
class FolderFaultsTest {
    private static final long HELD = 4096 + 8192;

    @TempDir
    Path folder;

    private final KeySpaces spaces = new KeySpaces();
    private final ObjectKeys keys = TestObjects.keys(spaces, TestObjects.space("salt"), 4);

    private TierAdapter open() throws IOException {
        return FileAdapter.open(FileTierConfig.in(folder), spaces);
    }

    @Test
    void danglingLinkAmongTheRecords() throws IOException {
        open().close();
        Files.createSymbolicLink(folder.resolve("objects/link"), folder.resolve("nowhere"));
        open().close();
        assertThat(folder.resolve("objects/link")).doesNotExist();
        try (TierAdapter tier = open()) {
            assertThat(tier.status().quarantined()).isEqualTo(1);
        }
    }

    @Test
    void folderWithContentInTmp() throws IOException {
        open().close();
        Files.createDirectories(folder.resolve("tmp/folder/deep"));
        try (TierAdapter tier = open()) {
            assertThat(folder.resolve("tmp")).isEmptyDirectory();
        }
    }

    @Test
    void quarantineGivesWayAtTheOpening() throws IOException {
        try (TierAdapter tier = open()) {
            TestObjects.store(tier, keys, 0, 5000);
        }
        for (int i = 0; i < 3; i++) {
            Files.write(folder.resolve("stray" + i + ".kvt"), new byte[4096]);
        }
        FileTierConfig config = FileTierConfig.in(folder).withMaxBytes(HELD + 4096);
        try (TierAdapter tier = FileAdapter.open(config, spaces)) {
            assertThat(tier.contains(keys, 0)).isTrue();
            assertThat(tier.status().bytes()).isLessThanOrEqualTo(HELD + 4096);
        }
    }

    @Test
    void damagedRecordDoesNotCountTwice() throws IOException {
        FileTierConfig config = FileTierConfig.in(folder).withMaxBytes(HELD);
        try (TierAdapter tier = FileAdapter.open(config, spaces)) {
            TestObjects.store(tier, keys, 0, 5000);
            Path path = record();
            byte[] bytes = Files.readAllBytes(path);
            bytes[5000]++;
            Files.write(path, bytes);
            long lease = tier.lease(keys, 0);
            assertThat(tier.load(lease, MemorySegment.ofArray(new byte[5000]))).isEqualTo(LoadOutcome.CORRUPT);
            assertThat(tier.status().bytes()).isLessThanOrEqualTo(HELD);
            tier.release(lease);
        }
    }

    @Test
    void grownDamagedRecordStaysWithinTheCap() throws IOException {
        FileTierConfig config = FileTierConfig.in(folder).withMaxBytes(HELD);
        try (TierAdapter tier = FileAdapter.open(config, spaces)) {
            TestObjects.store(tier, keys, 0, 5000);
            Path path = record();
            Files.write(path, Arrays.copyOf(Files.readAllBytes(path), 100_000));
            assertThat(TestObjects.outcome(tier, keys, 0)).isEqualTo(LoadOutcome.CORRUPT);
            assertThat(tier.status().bytes()).isLessThanOrEqualTo(HELD);
        }
    }

    @Test
    void emptyPayload() throws IOException {
        try (TierAdapter tier = open()) {
            assertThatIllegalArgumentException().isThrownBy(() -> TestObjects.store(tier, keys, 0, 0));
        }
    }

    @Test
    void releaseAfterCloseLeavesTheNextOwnersRecord() throws IOException {
        TierAdapter first = open();
        TestObjects.store(first, keys, 0, 5000);
        long lease = first.lease(keys, 0);
        first.delete(keys, 0);
        first.close();
        try (TierAdapter next = open()) {
            TestObjects.store(next, keys, 0, 5000);
            first.release(lease);
            assertThat(TestObjects.outcome(next, keys, 0)).isEqualTo(LoadOutcome.LOADED);
        }
    }

    @Test
    void deletedUnderALeaseIsGoneAfterARestart() throws IOException {
        TierAdapter first = open();
        TestObjects.store(first, keys, 0, 5000);
        first.lease(keys, 0);
        first.delete(keys, 0);
        first.close();
        try (TierAdapter next = open()) {
            assertThat(next.contains(keys, 0)).isFalse();
        }
    }

    @Test
    void longNameAmongTheRecords() throws IOException {
        open().close();
        Files.createFile(folder.resolve("objects/" + "x".repeat(250)));
        try (TierAdapter tier = open()) {
            assertThat(tier.status().failures()).isZero();
            assertThat(tier.status().quarantined()).isEqualTo(1);
        }
    }

    @Test
    void pipeAmongTheRecords() throws IOException {
        try (TierAdapter tier = open()) {
            TestObjects.store(tier, keys, 0, 5000);
        }
        Path path = record();
        Files.delete(path);
        Process mkfifo = new ProcessBuilder("mkfifo", path.toString()).start();
        assumeTrue(mkfifo.onExit().join().exitValue() == 0, "needs mkfifo");
        try (TierAdapter tier = open()) {
            assertThat(tier.status().quarantined()).isEqualTo(1);
        }
    }

    private Path record() throws IOException {
        try (Stream<Path> paths = Files.walk(folder.resolve("objects"))) {
            return paths.filter(Files::isRegularFile).findFirst().orElseThrow();
        }
    }
}
