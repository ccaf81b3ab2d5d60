package io.kvtier.jmh;

import io.kvtier.layout.ElementType;
import io.kvtier.layout.KvLayout;
import io.kvtier.memory.Crc32c;
import io.kvtier.memory.Slab;
import io.kvtier.transfer.HostMover;
import io.kvtier.transfer.PagedKv;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * What the way between an engine's paged KV and an object costs over a copy of the same bytes in one piece. Rows have
 * 2048 bytes (8 heads of 128 half-precision numbers), blocks 16 tokens in permuted order, so a piece has 32 KiB. All
 * memory is aligned alike, and everyone works on twice the object's bytes.
 */
@State(Scope.Thread)
@SuppressWarnings("NullAway.Init")
public class HostCopyBenchmark {
    private static final int BLOCK_TOKENS = 16;
    private static final int TOKENS = 256;
    private static final int HEADS = 8;
    private static final int HEAD_SIZE = 128;

    @Param({"256", "1024", "4096", "16384"})
    int objectKib;

    PagedKv kv;
    int[] slotMapping;
    MemorySegment object;
    MemorySegment onePiece;
    private int tokens;
    private Slab slab;
    private Arena arena;

    /** Fills the engine's memory, and the piece that is copied at once, with the same random bytes. */
    @Setup
    @SuppressWarnings("MustBeClosedChecker")
    public void open() {
        arena = Arena.ofShared();
        kv = pagedKv(arena);
        slotMapping = slots(tokens);
        slab = Slab.allocate(kv.layout().objectBytes(tokens));
        object = slab.segment();
        onePiece = arena.allocate(object.byteSize(), Slab.ALIGNMENT);
        fill();
    }

    /** Frees the memory. */
    @TearDown
    public void close() {
        slab.close();
        arena.close();
    }

    @Benchmark
    public void gather() {
        HostMover.gather(kv, slotMapping, 0, tokens, object);
    }

    @Benchmark
    public int gatherCrc() {
        HostMover.gather(kv, slotMapping, 0, tokens, object);
        return Crc32c.of(object);
    }

    @Benchmark
    public void scatter() {
        HostMover.scatter(kv, slotMapping, 0, tokens, object);
    }

    @Benchmark
    public int scatterCrc() {
        int crc = Crc32c.of(object);
        HostMover.scatter(kv, slotMapping, 0, tokens, object);
        return crc;
    }

    @Benchmark
    public int crc() {
        return Crc32c.of(object);
    }

    @Benchmark
    public void segmentCopy() {
        MemorySegment.copy(onePiece, 0, object, 0, onePiece.byteSize());
    }

    @Benchmark
    public void memcpy() {
        LibcNative.memcpy(object.address(), onePiece.address(), onePiece.byteSize());
    }

    private PagedKv pagedKv(Arena memory) {
        long perToken = 2L * HEADS * HEAD_SIZE * ElementType.F16.bytes();
        int layers = (int) Math.max(1, objectKib * 1024L / (TOKENS * perToken));
        tokens = (int) (objectKib * 1024L / (layers * perToken));
        KvLayout layout = KvLayout.keyValue(ElementType.F16, layers, HEADS, HEAD_SIZE);
        List<MemorySegment> planes = new ArrayList<>();
        for (int i = 0; i < layers * layout.planes(); i++) {
            planes.add(memory.allocate((long) tokens * layout.rowBytes(), Slab.ALIGNMENT));
        }
        return new PagedKv(layout, tokens / BLOCK_TOKENS, BLOCK_TOKENS, planes);
    }

    /** Returns the slots of a table of blocks of which no two neighbours are neighbours in memory. */
    private static int[] slots(int tokens) {
        List<Integer> blocks = new ArrayList<>();
        for (int block = 0; block < tokens / BLOCK_TOKENS; block++) {
            blocks.add(block);
        }
        Random random = new Random(1);
        do {
            Collections.shuffle(blocks, random);
        } while (hasNeighbours(blocks));
        int[] slots = new int[tokens];
        for (int token = 0; token < tokens; token++) {
            slots[token] = blocks.get(token / BLOCK_TOKENS) * BLOCK_TOKENS + token % BLOCK_TOKENS;
        }
        return slots;
    }

    private static boolean hasNeighbours(List<Integer> blocks) {
        for (int i = 1; i < blocks.size(); i++) {
            if (blocks.get(i) == blocks.get(i - 1) + 1) {
                return true;
            }
        }
        return false;
    }

    private void fill() {
        byte[] bytes = new byte[Math.toIntExact(onePiece.byteSize())];
        new Random(2).nextBytes(bytes);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, onePiece, 0, bytes.length);
        HostMover.scatter(kv, slotMapping, 0, tokens, onePiece);
    }
}
