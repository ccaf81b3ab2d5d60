package io.kvtier.trace;

import io.kvtier.layout.KvLayout;
import io.kvtier.object.CacheIdentity;
import io.kvtier.object.KeySpace;
import io.kvtier.object.ObjectKeys;
import io.kvtier.store.MemoryStatus;
import io.kvtier.store.ObjectLeases;
import io.kvtier.store.ObjectWriter;
import io.kvtier.store.Promotion;
import io.kvtier.store.StorageConfig;
import io.kvtier.store.StorageManager;
import io.kvtier.tier.FileTierConfig;
import io.kvtier.tier.TierException;
import io.kvtier.tier.TierStatus;
import io.kvtier.tier.Tiers;
import io.kvtier.trace.ReplaySettings.TouchOrder;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;

/**
 * Replays a trace against real memory and a real disk tier: each block's payload is stored, and on a hit read back and
 * compared.
 */
public final class Replay implements AutoCloseable {
    /*
     * For a request with blocks b[0..n): find the longest leading run that is present, block by block in memory, else on
     * disk; count it; read and compare it. Then let go of it and touch or insert all n blocks, in the order asked for, in
     * both tiers. Counting comes before any change, reading moves nothing, and each insert has settled before the next,
     * so the counts equal those of two plain LRU (or FIFO) lists and can be compared with other tools.
     *
     * As an engine: look up, bring the run up into memory and compare it there, store what was missing while the leases
     * are held, and touch backwards.
     */
    private static final String MODEL = "kvtier-replay";
    private static final String HASH_SCHEME = "trace-block-1";
    private static final long STOP_SECONDS = 10;
    private static final int KEY_BYTES = CacheIdentity.MAX_HASH_BYTES;

    private final Trace trace;
    private final ReplaySettings settings;
    private final StorageManager storage;
    private final ObjectKeys keys;
    private final ObjectLeases leases = new ObjectLeases();
    private final Arena arena = Arena.ofConfined();
    private final MemorySegment expected;
    private final MemorySegment readBack;
    private final BlockWriter writer = new BlockWriter();
    private final long[] lookupNanos;

    private final CountDownLatch ended = new CountDownLatch(1);

    private volatile boolean stopped;
    private long l1Hits;
    private long l2Hits;
    private long hitTokens;
    private long verified;
    private long bad;
    private long lost;

    private Replay(Trace trace, ReplaySettings settings, StorageManager storage) {
        this.trace = trace;
        this.settings = settings;
        this.storage = storage;
        this.keys = storage.keySpaces().keys(keySpace(settings.payloadBytes()));
        this.expected = arena.allocate(settings.payloadBytes(), Long.BYTES);
        this.readBack = arena.allocate(settings.payloadBytes(), Long.BYTES);
        this.lookupNanos = new long[trace.requests()];
    }

    /**
     * Opens the tiers for a replay.
     *
     * @throws TierException if the disk tier cannot be opened
     * @throws IllegalArgumentException if its folder holds blocks with another size of payload; nothing was changed then
     */
    public static Replay open(Trace trace, ReplaySettings settings) throws TierException {
        requireSamePayload(settings);
        // Memory never holds more than all blocks of the trace, so there is no need to reserve more.
        int memoryBlocks = (int) Math.min(settings.l1Blocks(), Math.max(1, trace.distinctBlocks()));
        StorageConfig config =
                new StorageConfig(settings.payloadBytes(), memoryBlocks, settings.policy(), tiers(settings));
        try {
            return new Replay(trace, settings, StorageManager.open(config));
        } catch (OutOfMemoryError e) {
            throw new IllegalArgumentException(
                    memoryBlocks + " blocks of " + settings.payloadBytes()
                            + " bytes do not fit this machine's memory; lower --l1-blocks or --payload-bytes",
                    e);
        }
    }

    /** Returns the number of objects that the disk tier held when it was opened, those of others included. */
    public long warmBlocks() {
        return storage.tierStatus().stream().mapToLong(TierStatus::recovered).sum();
    }

    /**
     * Replays all requests, once.
     *
     * @param progress is told after each request how many are done; runs in this thread
     * @throws CancellationException if another thread called {@link #stop}
     */
    public ReplayResult run(LongConsumer progress) {
        try {
            return replayAll(progress);
        } finally {
            ended.countDown();
        }
    }

    /** Ends a running replay after the request that it is at; waits for that up to 10 seconds. */
    public void stop() {
        stopped = true;
        try {
            boolean inTime = ended.await(STOP_SECONDS, TimeUnit.SECONDS);
            assert inTime || stopped;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private ReplayResult replayAll(LongConsumer progress) {
        long start = System.nanoTime();
        for (int request = 0; request < trace.requests(); request++) {
            if (stopped) {
                throw new CancellationException(
                        "interrupted after " + request + " of " + trace.requests() + " requests");
            }
            fillKeys(request);
            int hits = lookup(request);
            if (settings.asEngine()) {
                playEngine(request, hits);
            } else {
                playPlain(request, hits);
            }
            progress.accept(request + 1L);
        }
        return result((System.nanoTime() - start) / 1e9);
    }

    /** Closes the tiers; what the disk tier holds stays. */
    @Override
    public void close() {
        storage.close();
        arena.close();
    }

    private void fillKeys(int request) {
        int blocks = trace.blocks(request);
        byte[] hashes = keys.resize(blocks);
        for (int i = 0; i < blocks; i++) {
            trace.copyKey(trace.block(request, i), hashes, i * KEY_BYTES);
        }
        writer.keys = hashes;
    }

    private int lookup(int request) {
        long start = System.nanoTime();
        int hits = storage.lookup(keys, leases);
        lookupNanos[request] = System.nanoTime() - start;
        return hits;
    }

    private void playPlain(int request, int found) {
        int hits = 0;
        while (hits < found && readAndCompare(hits)) {
            hits++;
        }
        count(request, hits);
        leases.close();
        int blocks = keys.size();
        for (int i = 0; i < blocks; i++) {
            store(settings.touch() == TouchOrder.FORWARD ? i : blocks - 1 - i);
        }
    }

    private void playEngine(int request, int found) {
        int hits = 0;
        int[] tiers = new int[found];
        for (int i = 0; i < found; i++) {
            tiers[i] = leases.tier(i);
        }
        while (hits < found && promoteAndCompare(hits)) {
            hits++;
        }
        leases.truncate(hits);
        countTiers(tiers, hits);
        hitTokens += trace.hitTokens(request, hits);
        for (int i = hits; i < keys.size(); i++) {
            store(i);
        }
        for (int i = keys.size() - 1; i >= 0; i--) {
            storage.touch(keys, i);
        }
        leases.close();
    }

    private boolean readAndCompare(int index) {
        if (!storage.read(leases, index, readBack)) {
            lost++;
            return false;
        }
        compare(index, readBack);
        return true;
    }

    private boolean promoteAndCompare(int index) {
        Promotion promotion = storage.promote(keys, leases, index);
        if (promotion == Promotion.IN_MEMORY) {
            compare(index, storage.segment(leases, index));
            return true;
        }
        // Memory is full of leased blocks: the block is read past it.
        return promotion == Promotion.NO_SPACE ? readAndCompare(index) : lose();
    }

    private boolean lose() {
        lost++;
        return false;
    }

    private void compare(int index, MemorySegment found) {
        BlockPayload.fill(writer.keys, index * KEY_BYTES, expected);
        verified++;
        if (found.mismatch(expected) >= 0) {
            bad++;
        }
    }

    private void store(int index) {
        writer.index = index;
        storage.store(keys, index, settings.payloadBytes(), writer);
    }

    private void count(int request, int hits) {
        int[] tiers = new int[hits];
        for (int i = 0; i < hits; i++) {
            tiers[i] = leases.tier(i);
        }
        countTiers(tiers, hits);
        hitTokens += trace.hitTokens(request, hits);
    }

    private void countTiers(int[] tiers, int hits) {
        for (int i = 0; i < hits; i++) {
            if (tiers[i] == ObjectLeases.MEMORY) {
                l1Hits++;
            } else {
                l2Hits++;
            }
        }
    }

    private ReplayResult result(double wallSeconds) {
        MemoryStatus memory = storage.memoryStatus();
        List<TierStatus> tiers = storage.tierStatus();
        Arrays.sort(lookupNanos);
        long heap = heapBytes();
        return new ReplayResult(
                trace.format(),
                trace.requests(),
                trace.blockReferences(),
                trace.distinctBlocks(),
                trace.inputTokens(),
                l1Hits + l2Hits,
                hitTokens,
                l1Hits,
                l2Hits,
                memory.evictions(),
                tiers.stream().mapToLong(TierStatus::evictions).sum(),
                verified,
                bad,
                lost,
                memory.refused() + tiers.stream().mapToLong(TierStatus::refused).sum(),
                tiers.stream().mapToLong(TierStatus::failures).sum(),
                tiers.stream()
                        .map(TierStatus::fault)
                        .filter(Objects::nonNull)
                        .findFirst()
                        .orElse(null),
                tiers.stream().mapToLong(TierStatus::storedBytes).sum(),
                verified * settings.payloadBytes(),
                tiers.stream().mapToLong(TierStatus::readBytes).sum(),
                warmBlocks(),
                memory.objects() + tiers.stream().mapToLong(TierStatus::objects).sum(),
                trace.skippedLines(),
                wallSeconds,
                percentileMicros(0.50),
                percentileMicros(0.99),
                heap,
                memory.slabBytes());
    }

    /** Returns a percentile by nearest rank. */
    private double percentileMicros(double share) {
        int rank = (int) Math.ceil(share * lookupNanos.length);
        return lookupNanos.length == 0 ? 0 : lookupNanos[Math.max(rank, 1) - 1] / 1e3;
    }

    private static long heapBytes() {
        var memory = ManagementFactory.getMemoryMXBean();
        memory.gc();
        return memory.getHeapMemoryUsage().getUsed();
    }

    private static List<FileTierConfig> tiers(ReplaySettings settings) {
        if (settings.l2Blocks() == 0) {
            return List.of();
        }
        return List.of(FileTierConfig.in(settings.l2Folder())
                .withMaxObjects(settings.l2Blocks())
                .withPolicy(settings.policy()));
    }

    private static KeySpace keySpace(int payloadBytes) {
        // A block is one unit of payloadBytes; how many tokens it stands for does not change its bytes.
        KvLayout layout = KvLayout.opaque(payloadBytes);
        return KeySpace.of(new CacheIdentity(MODEL, "", "", HASH_SCHEME, KEY_BYTES, 1, layout, 1), 0, "");
    }

    private static void requireSamePayload(ReplaySettings settings) throws TierException {
        if (settings.l2Blocks() == 0) {
            return;
        }
        for (KeySpace space : Tiers.keySpaces(settings.l2Folder())) {
            boolean ofReplay = space.identity().modelName().equals(MODEL);
            if (ofReplay && space.objectBytes() != settings.payloadBytes()) {
                throw new IllegalArgumentException("folder " + settings.l2Folder() + " holds blocks of "
                        + space.objectBytes() + " payload bytes, asked for are " + settings.payloadBytes()
                        + "; use --payload-bytes " + space.objectBytes() + " or another --l2-dir");
            }
        }
    }

    private static final class BlockWriter implements ObjectWriter {
        private byte[] keys = new byte[0];
        private int index;

        @Override
        public void write(MemorySegment object) {
            BlockPayload.fill(keys, index * KEY_BYTES, object);
        }
    }
}
