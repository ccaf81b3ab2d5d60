package io.kvtier.tier.file;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvtier.object.KeySpaces;
import io.kvtier.policy.EvictionPolicy;
import io.kvtier.tier.FileTierConfig;
import io.kvtier.tier.TestObjects;
import io.kvtier.tier.TierAdapter;
import io.kvtier.tier.TierContractTest;
import io.kvtier.tier.TierException;
import io.kvtier.tier.Tiers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The file tier keeps the contract, and its folder is as docs/format.md says. */
class FileAdapterTest extends TierContractTest {
    @Override
    protected TierAdapter open(Path at, Caps caps, KeySpaces registry) throws TierException {
        return Tiers.open(new FileTierConfig(at, caps.bytes(), caps.objects(), caps.policy()), registry);
    }

    @Override
    protected long heldBytes(long payloadBytes) {
        return 4096 + (payloadBytes + 4095) / 4096 * 4096;
    }

    @Test
    void folderIsAsTheFormatSays() throws IOException {
        store(0);
        assertThat(place.resolve("kvtier-format")).hasContent("kvtier file tier, format 1\n");
        assertThat(Files.readString(place.resolve("kvtier-lock")))
                .startsWith("pid " + ProcessHandle.current().pid() + " on ");
        assertThat(place.resolve("tmp")).isEmptyDirectory();
        assertThat(place.resolve("quarantine")).isEmptyDirectory();
        assertThat(records()).singleElement().satisfies(path -> {
            assertThat(path.getFileName().toString()).matches("[0-9a-f]{64}\\.kvt");
            assertThat(path.getFileName().toString())
                    .startsWith(path.getParent().getFileName().toString());
            assertThat(path).hasSize(4096 + 5000);
        });
    }

    @Test
    void evictedAndDeletedObjectsLeaveNoFile() throws IOException {
        restart(new Caps(Long.MAX_VALUE, 2, EvictionPolicy.Kind.LRU));
        for (int i = 0; i < 5; i++) {
            store(i);
        }
        assertThat(records()).hasSize(2);
        tier.delete(keys, 4);
        assertThat(records()).hasSize(1);
    }

    @Test
    void keySpacesOfAnOpenFolderCanBeListed() throws TierException {
        store(0);
        assertThat(Tiers.keySpaces(place)).containsExactly(TestObjects.space("salt"));
        assertThat(Tiers.keySpaces(place.resolve("nowhere"))).isEmpty();
        assertThat(place.resolve("nowhere")).doesNotExist();
    }

    @Test
    void nameTellsTheFolder() {
        assertThat(tier.name()).isEqualTo("file:" + place);
    }

    private List<Path> records() throws IOException {
        try (Stream<Path> paths = Files.walk(place.resolve("objects"))) {
            return paths.filter(Files::isRegularFile).toList();
        }
    }
}
