package io.kvtier.tier.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.kvtier.object.KeySpaces;
import io.kvtier.object.ObjectKeys;
import io.kvtier.tier.FileTierConfig;
import io.kvtier.tier.TestObjects;
import io.kvtier.tier.TierAdapter;
import io.kvtier.tier.TierException;
import io.kvtier.tier.TierException.Reason;
import io.kvtier.tier.Tiers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The key spaces of a folder can be listed by those who do not own it. */
class FolderKeySpacesTest {
    @TempDir
    Path folder;

    @Test
    void keySpacesOfANewerFolderAreRefused() throws IOException {
        Files.writeString(folder.resolve("kvtier-format"), "kvtier file tier, format 2\n");
        TierException failure = catchThrowableOfType(TierException.class, () -> Tiers.keySpaces(folder));
        assertThat(failure).isNotNull();
        assertThat(failure.reason()).isEqualTo(Reason.NEWER_FORMAT);
    }

    @Test
    void keySpacesCanBeReadWhileTheOwnerEvicts() throws Exception {
        KeySpaces spaces = new KeySpaces();
        AtomicBoolean done = new AtomicBoolean();
        try (TierAdapter tier = FileAdapter.open(FileTierConfig.in(folder).withMaxObjects(20), spaces);
                ExecutorService owner = Executors.newSingleThreadExecutor()) {
            Future<?> storing = owner.submit(() -> {
                ObjectKeys keys = TestObjects.keys(spaces, TestObjects.space(""), 60);
                for (int i = 0; !done.get(); i = (i + 1) % 60) {
                    TestObjects.store(tier, keys, i, 10);
                }
            });
            try {
                for (int i = 0; i < 100; i++) {
                    assertThat(Tiers.keySpaces(folder).size()).isLessThanOrEqualTo(1);
                }
            } finally {
                done.set(true);
            }
            storing.get();
        }
    }
}
