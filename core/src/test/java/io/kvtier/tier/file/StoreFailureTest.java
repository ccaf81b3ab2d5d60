package io.kvtier.tier.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.kvtier.object.KeySpaces;
import io.kvtier.object.ObjectKeys;
import io.kvtier.tier.FileTierConfig;
import io.kvtier.tier.StoreOutcome;
import io.kvtier.tier.TestObjects;
import io.kvtier.tier.TierAdapter;
import io.kvtier.tier.TierException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a store or a release that cannot do its work leaves behind: nothing. */
class StoreFailureTest {
    @TempDir
    Path folder;

    @Test
    void aStoreThatThrowsHoldsNoSpaceAndNoFile() throws IOException {
        KeySpaces spaces = new KeySpaces();
        ObjectKeys keys = TestObjects.keys(spaces, TestObjects.space(""), 1);
        MemorySegment noBytes = MemorySegment.ofArray(new int[100]);
        try (TierAdapter tier = FileAdapter.open(FileTierConfig.in(folder), spaces)) {
            assertThatThrownBy(() -> tier.store(keys, 0, noBytes, 0)).isInstanceOf(RuntimeException.class);
            assertThat(tier.status().bytes()).isZero();
            try (Stream<Path> temporaries = Files.list(folder.resolve("tmp"))) {
                assertThat(temporaries).isEmpty();
            }
            assertThat(TestObjects.store(tier, keys, 0, 400)).isEqualTo(StoreOutcome.STORED);
        }
    }

    @Test
    void aReleaseAfterCloseLeavesTheFolderToItsNextOwner() throws TierException {
        KeySpaces spaces = new KeySpaces();
        ObjectKeys keys = TestObjects.keys(spaces, TestObjects.space(""), 1);
        TierAdapter tier = FileAdapter.open(FileTierConfig.in(folder), spaces);
        TestObjects.store(tier, keys, 0, 400);
        long lease = tier.lease(keys, 0);
        tier.delete(keys, 0);
        tier.close();
        try (TierAdapter successor = FileAdapter.open(FileTierConfig.in(folder), spaces)) {
            TestObjects.store(successor, keys, 0, 400);
            tier.release(lease);
            assertThat(TestObjects.load(successor, keys, 0)).isEqualTo(TestObjects.bytes(0, 400));
        }
        assertThat(tier.status().leases()).isZero();
        assertThat(tier.status().bytes()).isZero();
    }
}
