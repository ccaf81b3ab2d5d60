package io.kvtier.tier.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvtier.object.KeySpaces;
import io.kvtier.object.ObjectKeys;
import io.kvtier.tier.FileTierConfig;
import io.kvtier.tier.StoreOutcome;
import io.kvtier.tier.TestObjects;
import io.kvtier.tier.TierException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A folder that is somebody else's is refused before anything in it is touched. */
class AdoptedFolderTest {
    private final KeySpaces spaces = new KeySpaces();

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"objects", "tmp", "quarantine"})
    void unmarkedFolderWithContentIsRefused(String name) throws IOException {
        Path mine = Files.createDirectories(folder.resolve(name)).resolve("mine");
        Files.writeString(mine, "precious");
        assertRefused("has no kvtier-format, but a folder " + name);
        assertThat(mine).hasContent("precious");
        assertThat(folder.toFile().list()).containsExactly(name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"objects", "tmp", "quarantine"})
    void subfolderThatIsALinkIsRefused(String name) throws Exception {
        FileAdapter.open(FileTierConfig.in(folder.resolve("cache")), spaces).close();
        Path elsewhere = Files.createDirectories(folder.resolve("elsewhere"));
        Files.writeString(elsewhere.resolve("mine"), "precious");
        Path link = folder.resolve("cache").resolve(name);
        Files.delete(link);
        Files.createSymbolicLink(link, elsewhere);
        assertThatExceptionOfType(TierException.class)
                .isThrownBy(() -> FileAdapter.open(FileTierConfig.in(folder.resolve("cache")), spaces))
                .withMessageContaining("its " + name + " is no folder");
        assertThat(elsewhere.resolve("mine")).hasContent("precious");
    }

    @Test
    void emptyPathIsNotTheCurrentFolder() {
        assertThatIllegalArgumentException().isThrownBy(() -> FileTierConfig.in(Path.of("")));
    }

    @Test
    void interruptedThreadStoresAndStaysInterrupted() throws Exception {
        ObjectKeys keys = TestObjects.keys(spaces, TestObjects.space("s"), 2);
        try (FileAdapter tier = FileAdapter.open(FileTierConfig.in(folder), spaces)) {
            Thread.currentThread().interrupt();
            StoreOutcome outcome = TestObjects.store(tier, keys, 0, 100);
            assertThat(Thread.interrupted()).isTrue();
            assertThat(outcome).isEqualTo(StoreOutcome.STORED);
            assertThat(tier.status().degraded()).isFalse();
        }
    }

    private void assertRefused(String message) {
        assertThatExceptionOfType(TierException.class)
                .isThrownBy(() -> FileAdapter.open(FileTierConfig.in(folder), spaces))
                .withMessageContaining(message);
    }
}
