package io.kvtier.tier.file;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvtier.layout.ElementType;
import io.kvtier.layout.KvLayout;
import io.kvtier.object.CacheIdentity;
import io.kvtier.object.ChunkHash;
import io.kvtier.object.KeySpace;
import io.kvtier.object.KeySpaces;
import io.kvtier.object.ObjectKeys;
import io.kvtier.tier.FileTierConfig;
import io.kvtier.tier.StoreOutcome;
import io.kvtier.tier.TestObjects;
import io.kvtier.tier.TierAdapter;
import io.kvtier.tier.TierException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Records that format version 1 wrote can be read for ever: the folder is part of the sources and never written again. */
class FormatFixtureTest {
    private static final Path FIXTURE = Path.of("src/test/resources/io/kvtier/tier/file/format-1");

    /** An object of the fixture; its content follows from its number. */
    private record Item(KeySpace space, int number, int length) {
        ObjectKeys keys(KeySpaces spaces) {
            ObjectKeys keys = spaces.keys(space);
            keys.add(ChunkHash.of(TestObjects.bytes(number, space.identity().hashBytes())));
            return keys;
        }
    }

    private static final List<Item> ITEMS = List.of(
            new Item(plain(), 1, 1),
            new Item(plain(), 2, 4096),
            new Item(plain(), 3, 777),
            new Item(rich(), 1, 300),
            new Item(rich(), 4, 64),
            new Item(latent(), 5, 128));

    @TempDir
    Path folder;

    /** Writes the fixture into a new folder; it was called once. */
    static final class Writer {
        private Writer() {}

        /** Writes to the folder that is named, which must not be there. */
        public static void main(String[] args) throws IOException {
            Path to = Files.createDirectory(Path.of(args[0]));
            KeySpaces spaces = new KeySpaces();
            try (TierAdapter tier = FileAdapter.open(FileTierConfig.in(to), spaces)) {
                for (Item item : ITEMS) {
                    TestObjects.storeAs(tier, item.keys(spaces), 0, item.number(), item.length());
                }
            }
            // The rest says who wrote it, or is empty.
            for (String name : List.of("kvtier-lock", "tmp", "quarantine")) {
                Files.delete(to.resolve(name));
            }
        }
    }

    @BeforeEach
    void copyFixture() throws IOException {
        try (Stream<Path> paths = Files.walk(FIXTURE)) {
            for (Path path : paths.toList()) {
                Path target = folder.resolve(FIXTURE.relativize(path).toString());
                if (Files.isDirectory(path)) {
                    Files.createDirectories(target);
                } else {
                    Files.copy(path, target);
                }
            }
        }
    }

    @Test
    void everyRecordIsRead() throws TierException {
        KeySpaces spaces = new KeySpaces();
        try (TierAdapter tier = FileAdapter.open(FileTierConfig.in(folder), spaces)) {
            assertThat(tier.status().recovered()).isEqualTo(ITEMS.size());
            assertThat(tier.status().corrupt()).isZero();
            assertThat(tier.keySpaces()).containsExactlyInAnyOrder(plain(), rich(), latent());
            for (Item item : ITEMS) {
                assertThat(TestObjects.load(tier, item.keys(spaces), 0))
                        .isEqualTo(TestObjects.bytes(item.number(), item.length()));
            }
        }
    }

    @Test
    void olderRecordsGoFirst() throws TierException {
        KeySpaces spaces = new KeySpaces();
        FileTierConfig small = FileTierConfig.in(folder).withMaxObjects(2);
        try (TierAdapter tier = FileAdapter.open(small, spaces)) {
            for (Item item : ITEMS) {
                assertThat(tier.contains(item.keys(spaces), 0)).isEqualTo(ITEMS.indexOf(item) >= 4);
            }
        }
    }

    /** If the writer's format changed, its version must have, and a fixture of that version stands beside this one. */
    @Test
    void sameObjectsStillMakeTheSameFiles() throws IOException {
        Path written = folder.resolve("written");
        Writer.main(new String[] {written.toString()});
        assertThat(files(written)).isEqualTo(files(FIXTURE));
        for (Path path : files(FIXTURE)) {
            byte[] old = withoutTime(Files.readAllBytes(FIXTURE.resolve(path.toString())));
            byte[] now = withoutTime(Files.readAllBytes(written.resolve(path.toString())));
            assertThat(now).as("%s", path).isEqualTo(old);
        }
    }

    @Test
    void fixtureTakesNewRecords() throws TierException {
        KeySpaces spaces = new KeySpaces();
        try (TierAdapter tier = FileAdapter.open(FileTierConfig.in(folder), spaces)) {
            ObjectKeys keys = new Item(plain(), 99, 1).keys(spaces);
            assertThat(TestObjects.storeAs(tier, keys, 0, 99, 50)).isEqualTo(StoreOutcome.STORED);
        }
        FileTierConfig small = FileTierConfig.in(folder).withMaxObjects(1);
        try (TierAdapter tier = FileAdapter.open(small, spaces)) {
            assertThat(tier.contains(new Item(plain(), 99, 1).keys(spaces), 0)).isTrue();
        }
    }

    private static KeySpace plain() {
        KvLayout layout = KvLayout.keyValue(ElementType.F16, 2, 1, 4);
        return KeySpace.of(new CacheIdentity("model", "", "", "sha256", 32, 16, layout, 1), 0, "");
    }

    private static KeySpace rich() {
        KvLayout layout = KvLayout.keyValue(ElementType.BF16, 3, 2, 8);
        CacheIdentity identity = new CacheIdentity("org/模型", "v1.2", "lora-ü", "xxh3", 16, 256, layout, 4);
        return new KeySpace(identity, 3, 0, 2, "tenant", Map.of("b", "2", "a", "", "ö", "x"));
    }

    private static KeySpace latent() {
        KvLayout layout = KvLayout.latent(ElementType.F8_E4M3, 4, 8);
        return KeySpace.of(new CacheIdentity("mla", "r", "", "short", 1, 4, layout, 2), 1, "salt");
    }

    private static List<Path> files(Path root) throws IOException {
        try (Stream<Path> paths = Files.walk(root)) {
            return paths.filter(Files::isRegularFile)
                    .map(root::relativize)
                    .sorted()
                    .toList();
        }
    }

    /** Clears time and header checksum of a record. */
    private static byte[] withoutTime(byte[] file) {
        if (file.length > 4096) {
            java.util.Arrays.fill(file, 16, 20, (byte) 0);
            java.util.Arrays.fill(file, 64, 72, (byte) 0);
        }
        return file;
    }
}
