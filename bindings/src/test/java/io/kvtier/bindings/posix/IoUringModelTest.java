package io.kvtier.bindings.posix;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.posix.NativeFile.Option;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Blocks are written and read at random with many operations under way; a model knows the last content of each. */
@EnabledOnOs(OS.LINUX)
class IoUringModelTest {
    private static final int BLOCK = 8192;
    private static final int BLOCKS = 512;
    private static final int PAGES = 64;
    private static final int OPERATIONS = 20_000;

    @TempDir
    Path folder;

    /** Content of a block is made from its number and version; a block or page in use is left alone until completed. */
    private final int[] versions = new int[BLOCKS];

    private final boolean[] blockBusy = new boolean[BLOCKS];
    private final int[] pageBlock = new int[PAGES];
    private final boolean[] pageBusy = new boolean[PAGES];
    private final boolean[] pageWrites = new boolean[PAGES];
    private MemorySegment memory = MemorySegment.NULL;
    private int completed;

    @Test
    void manyOperationsAtOnceGiveWhatTheModelSays() {
        run(16, PAGES, 16, false);
    }

    @Test
    void directFilesAndRegisteredMemoryDoTheSame() {
        run(64, PAGES, 64, true);
    }

    private void run(int entries, int inFlight, int completions, boolean registered) {
        Assumptions.assumeTrue(
                IoUring.availability().isAvailable(), IoUring.availability().toString());
        long seed = Long.getLong("kvtier.seed", System.nanoTime());
        System.out.println("IoUringModelTest: -Dkvtier.seed=" + seed);
        Random random = new Random(seed);
        try (MappedMemory slab = MappedMemory.anonymous((long) PAGES * BLOCK);
                NativeFile file = open(registered);
                IoUring ring = IoUring.open(entries, inFlight, completions, true)) {
            memory = slab.segment();
            if (registered) {
                ring.registerBuffers(List.of(memory));
                ring.registerFiles(List.of(file));
            }
            file.truncate((long) BLOCKS * BLOCK);
            for (int started = 0; started < OPERATIONS; ) {
                started += start(ring, file, random) ? 1 : 0;
                if (random.nextInt(8) == 0) {
                    ring.await(random.nextInt(8), Duration.ofSeconds(60), this::completed);
                }
            }
            int left = ring.inFlight();
            assertThat(ring.await(left, Duration.ofSeconds(60), this::completed))
                    .isEqualTo(left);
            assertThat(completed).isEqualTo(OPERATIONS);
        }
        assertThat(NativeHandles.live()).isEmpty();
    }

    private NativeFile open(boolean direct) {
        Path path = folder.resolve("blocks");
        if (direct && probe(path)) {
            return NativeFile.open(path, Option.READ, Option.WRITE, Option.DIRECT);
        }
        return NativeFile.open(path, Option.READ, Option.WRITE, Option.CREATE);
    }

    private static boolean probe(Path path) {
        NativeFile.open(path, Option.WRITE, Option.CREATE).close();
        boolean works = DirectIo.probe(path, BLOCK).isAvailable();
        try (NativeFile file = NativeFile.open(path, Option.WRITE)) {
            file.truncate(0);
        }
        return works;
    }

    /** Starts an operation on a free block and page; returns whether there were some, and room. */
    private boolean start(IoUring ring, NativeFile file, Random random) {
        int block = random.nextInt(BLOCKS);
        int page = random.nextInt(PAGES);
        if (blockBusy[block] || pageBusy[page]) {
            ring.await(1, Duration.ofSeconds(60), this::completed);
            return false;
        }
        boolean writes = random.nextBoolean();
        if (writes) {
            fill(page, block, versions[block] + 1);
        }
        boolean started = writes
                ? ring.write(file, page(page), (long) block * BLOCK, page)
                : ring.read(file, page(page), (long) block * BLOCK, page);
        if (!started) {
            ring.submit();
            return false;
        }
        versions[block] += writes ? 1 : 0;
        blockBusy[block] = true;
        pageBusy[page] = true;
        pageBlock[page] = block;
        pageWrites[page] = writes;
        return true;
    }

    private void completed(long data, int result) {
        int page = (int) data;
        int block = pageBlock[page];
        assertThat(pageBusy[page]).as("page %d is completed once", page).isTrue();
        assertThat(result).as("block %d", block).isEqualTo(BLOCK);
        if (!pageWrites[page]) {
            verify(page, block);
        }
        pageBusy[page] = false;
        blockBusy[block] = false;
        completed++;
    }

    private void verify(int page, int block) {
        CRC32 read = new CRC32();
        read.update(page(page).asByteBuffer());
        fill(page, block, versions[block]);
        CRC32 expected = new CRC32();
        expected.update(page(page).asByteBuffer());
        assertThat(read.getValue()).as("block %d", block).isEqualTo(expected.getValue());
    }

    private void fill(int page, int block, int version) {
        for (int at = 0; at < BLOCK; at += Long.BYTES) {
            page(page).set(ValueLayout.JAVA_LONG, at, version == 0 ? 0 : content(block, version, at));
        }
    }

    private static long content(int block, int version, int at) {
        return ((long) block << 40 | (long) version << 16 | at) * 0x9e3779b97f4a7c15L;
    }

    private MemorySegment page(int page) {
        return memory.asSlice((long) page * BLOCK, BLOCK);
    }
}
