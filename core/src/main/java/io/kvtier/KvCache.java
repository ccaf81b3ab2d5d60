package io.kvtier;

import io.kvtier.layout.KvLayout;
import io.kvtier.memory.NativeMemory;
import io.kvtier.object.KeySpace;
import io.kvtier.object.ObjectKeys;
import io.kvtier.store.ObjectLeases;
import io.kvtier.store.ObjectWriter;
import io.kvtier.store.Promotion;
import io.kvtier.store.StorageManager;
import io.kvtier.tier.StoreOutcome;
import io.kvtier.tier.TierException;
import io.kvtier.token.ChunkHasher;
import io.kvtier.transfer.HostMover;
import io.kvtier.transfer.PagedKv;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The KV cache that an engine talks to. A request asks {@link #lookup} how much of its prompt is there, lets
 * {@link #retrieve} copy that into its paged KV, computes the rest, and hands the result to {@link #store}. Safe for all
 * threads; see {@link PrefixLease} for what belongs to one.
 */
public final class KvCache implements AutoCloseable {
    private final KvCacheConfig config;
    private final StorageManager storage;
    private final int chunkTokens;
    private final ThreadLocal<ChunkHasher> hashers;
    private final ConcurrentHashMap<RequestScope, KeySpace> keySpaces = new ConcurrentHashMap<>();

    private KvCache(KvCacheConfig config, StorageManager storage) {
        this.config = config;
        this.storage = storage;
        this.chunkTokens = config.identity().chunkTokens();
        this.hashers =
                ThreadLocal.withInitial(() -> new ChunkHasher(config.identity().chunkTokens()));
    }

    /**
     * Opens a cache: reserves its memory and opens its tiers, which find what earlier runs left.
     *
     * @throws TierException if a tier cannot be opened
     */
    public static KvCache open(KvCacheConfig config) throws TierException {
        return new KvCache(config, StorageManager.open(config.storage()));
    }

    /** Looks a whole prompt up in the default scope; see {@link #lookup(int[], int, RequestScope)}. */
    public PrefixLease lookup(int[] tokens) {
        return lookup(tokens, tokens.length, RequestScope.DEFAULT);
    }

    /**
     * Finds the longest prefix of a prompt, in whole chunks, whose KV is there, and takes leases on it. Changes nothing
     * else: looking up twice finds the same.
     *
     * @param tokens token ids, none negative
     * @param length number of ids that count
     * @param scope whose objects to look for
     * @return the lease; the caller closes it
     * @throws IllegalArgumentException if a token id is negative
     * @throws IllegalStateException if the cache is closed
     */
    public PrefixLease lookup(int[] tokens, int length, RequestScope scope) {
        KeySpace known = keySpaces.get(scope);
        ObjectKeys keys = storage.keySpaces().keysToFind(known == null ? keySpace(scope) : known);
        hash(tokens, length, keys);
        PrefixLease lease = new PrefixLease(chunkTokens, keys);
        try {
            storage.lookup(lease.keys(), lease.leases());
            return lease;
        } catch (RuntimeException | Error e) {
            lease.close();
            throw e;
        }
    }

    /**
     * Copies the KV of a leased prefix into the engine's memory. If a tier has lost a chunk since the lookup, the prefix
     * ends before it, and the lease on what follows is let go.
     *
     * @param lease an open lease
     * @param kv the engine's memory
     * @param slotMapping slot of each token of the prompt
     * @return how much is there now, from the first token on
     * @throws IllegalArgumentException if the engine's layout is not the cache's
     * @throws IndexOutOfBoundsException if a token of the prefix has no slot or its slot is outside the engine's memory;
     *     nothing was copied then
     * @throws IllegalStateException if the cache or the lease is closed
     */
    public Retrieved retrieve(PrefixLease lease, PagedKv kv, int[] slotMapping) {
        requireLayout(kv);
        storage.requireOpen(lease.leases());
        HostMover.checkSlots(kv, slotMapping, 0, lease.tokens());
        int fromMemory = 0;
        int done = 0;
        while (done < lease.chunks()) {
            int tier = lease.tier(done);
            if (!retrieveChunk(lease, done, kv, slotMapping)) {
                lease.leases().truncate(done);
                break;
            }
            fromMemory += tier == ObjectLeases.MEMORY ? 1 : 0;
            done++;
        }
        touchBackwards(lease.keys(), done);
        return new Retrieved(done * chunkTokens, fromMemory * chunkTokens, (done - fromMemory) * chunkTokens);
    }

    /** Stores a whole prompt in the default scope; see {@link #store(int[], int, PagedKv, int[], RequestScope)}. */
    public Stored store(int[] tokens, PagedKv kv, int[] slotMapping) {
        return store(tokens, tokens.length, kv, slotMapping, RequestScope.DEFAULT);
    }

    /**
     * Stores the KV of all full chunks of a prompt that are not there yet, in memory and in every tier; it is settled
     * when the call returns. A chunk that finds no space ends the store: what follows would not be found without it.
     *
     * @param tokens token ids, none negative
     * @param length number of ids whose KV the engine's memory holds
     * @param kv the engine's memory
     * @param slotMapping slot of each token
     * @param scope whose objects they are
     * @return what became of the chunks
     * @throws IllegalArgumentException if a token id is negative or the engine's layout is not the cache's
     * @throws IndexOutOfBoundsException if a token has no slot or its slot is outside the engine's memory; nothing was
     *     stored then
     * @throws IllegalStateException if the cache is closed
     */
    public Stored store(int[] tokens, int length, PagedKv kv, int[] slotMapping, RequestScope scope) {
        requireLayout(kv);
        ObjectKeys keys = storage.keySpaces().keys(keySpaces.computeIfAbsent(scope, this::keySpace));
        hash(tokens, length, keys);
        HostMover.checkSlots(kv, slotMapping, 0, keys.size() * chunkTokens);
        ChunkGather gather = new ChunkGather(kv, slotMapping, chunkTokens);
        // Without a tier below, a prompt larger than memory would evict its own beginning, without which nothing of it
        // is
        // ever found.
        boolean memoryOnly = storage.tiers().isEmpty();
        int stored = 0;
        int done = 0;
        try (ObjectLeases held = new ObjectLeases()) {
            while (done < keys.size()) {
                gather.chunk = done;
                StoreOutcome outcome =
                        storage.store(keys, done, config.identity().objectBytes(), gather);
                if (outcome == StoreOutcome.NO_SPACE || (memoryOnly && !storage.hold(keys, done, held))) {
                    break;
                }
                stored += outcome == StoreOutcome.STORED ? 1 : 0;
                done++;
            }
        }
        touchBackwards(keys, done);
        return new Stored(stored, done - stored, keys.size() - done);
    }

    /** Returns capacities, counters and health of all tiers. */
    public CacheStatus status() {
        return new CacheStatus(storage.memoryStatus(), storage.tierStatus());
    }

    /** Returns the settings that the cache was opened with. */
    public KvCacheConfig config() {
        return config;
    }

    /**
     * Closes the cache: waits, a bounded time, for running calls, and closes the tiers, which keep what they hold.
     * Leases that are still open keep their memory. Closing twice does nothing.
     */
    @Override
    public void close() {
        storage.close();
    }

    private void hash(int[] tokens, int length, ObjectKeys keys) {
        Objects.checkFromIndexSize(0, length, tokens.length);
        ChunkHasher hasher = hashers.get();
        hasher.hash(tokens, length, 0, keys.resize(hasher.chunks(length)));
    }

    private KeySpace keySpace(RequestScope scope) {
        return new KeySpace(config.identity(), config.rank(), 0, KeySpace.ALL_LAYERS, scope.salt(), scope.tags());
    }

    private boolean retrieveChunk(PrefixLease lease, int chunk, PagedKv kv, int[] slotMapping) {
        if (storage.length(lease.leases(), chunk) != config.identity().objectBytes()) {
            // A whole record that some other program wrote under this key: not what the key stands for.
            return false;
        }
        Promotion promotion = storage.promote(lease.keys(), lease.leases(), chunk);
        return switch (promotion) {
            case LOST -> false;
            case NO_SPACE -> retrieveDirectly(lease, chunk, kv, slotMapping);
            case IN_MEMORY -> {
                if (config.verifyMemory() && !storage.verify(lease.leases(), chunk)) {
                    yield false;
                }
                MemorySegment object = storage.segment(lease.leases(), chunk);
                HostMover.scatter(kv, slotMapping, chunk * chunkTokens, chunkTokens, object);
                yield true;
            }
        };
    }

    /** Memory is full of leased objects: the chunk takes the way past it. */
    private boolean retrieveDirectly(PrefixLease lease, int chunk, PagedKv kv, int[] slotMapping) {
        try (Arena arena = NativeMemory.confined(NativeMemory.Purpose.STAGING)) {
            MemorySegment object = arena.allocate(config.identity().objectBytes());
            if (!storage.read(lease.leases(), chunk, object)) {
                return false;
            }
            HostMover.scatter(kv, slotMapping, chunk * chunkTokens, chunkTokens, object);
            return true;
        }
    }

    /** Uses the last chunk first, so that a chunk is never evicted before those that build on it. */
    private void touchBackwards(ObjectKeys keys, int chunks) {
        for (int chunk = chunks - 1; chunk >= 0; chunk--) {
            storage.touch(keys, chunk);
        }
    }

    private void requireLayout(PagedKv kv) {
        KvLayout expected = config.identity().layout();
        if (!kv.layout().equals(expected)) {
            throw new IllegalArgumentException(
                    "the engine's KV has layout " + kv.layout() + ", the cache was opened for " + expected);
        }
    }

    /** Gathers one chunk after the other; reused, so that a store costs no object per chunk. */
    private static final class ChunkGather implements ObjectWriter {
        private final PagedKv kv;
        private final int[] slotMapping;
        private final int chunkTokens;
        private int chunk;

        ChunkGather(PagedKv kv, int[] slotMapping, int chunkTokens) {
            this.kv = kv;
            this.slotMapping = slotMapping;
            this.chunkTokens = chunkTokens;
        }

        @Override
        public void write(MemorySegment object) {
            HostMover.gather(kv, slotMapping, chunk * chunkTokens, chunkTokens, object);
        }
    }
}
