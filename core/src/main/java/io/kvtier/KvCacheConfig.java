package io.kvtier;

import io.kvtier.layout.KvLayout;
import io.kvtier.object.CacheIdentity;
import io.kvtier.object.KeySpace;
import io.kvtier.policy.EvictionPolicy;
import io.kvtier.store.StorageConfig;
import io.kvtier.tier.FileTierConfig;
import io.kvtier.token.ChunkHasher;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Settings of a {@link KvCache}, checked when they are built. */
public final class KvCacheConfig {
    private final CacheIdentity identity;
    private final int rank;
    private final StorageConfig storage;
    private final boolean verifyMemory;

    private KvCacheConfig(Builder builder) {
        if (builder.layout == null) {
            throw new IllegalArgumentException("a cache needs the layout of the engine's KV: set layout(...)");
        }
        this.identity = new CacheIdentity(
                builder.modelName,
                builder.modelRevision,
                builder.adapterName,
                ChunkHasher.SCHEME,
                ChunkHasher.HASH_BYTES,
                builder.chunkTokens,
                builder.layout,
                builder.worldSize);
        this.rank = builder.rank;
        // A key space checks what the fields must be to each other.
        KeySpace.of(identity, rank, "");
        this.storage = new StorageConfig(
                identity.objectBytes(), memoryObjects(builder, identity), builder.memoryPolicy, builder.tiers);
        this.verifyMemory = builder.verifyMemory;
    }

    /**
     * Begins the settings of a cache for a model.
     *
     * @param modelName name of the model, not empty
     */
    public static Builder builder(String modelName) {
        return new Builder(modelName);
    }

    /** Returns the identity of all objects of the cache. */
    public CacheIdentity identity() {
        return identity;
    }

    /** Returns the rank whose KV the cache holds. */
    public int rank() {
        return rank;
    }

    /** Returns the settings of memory and tiers. */
    public StorageConfig storage() {
        return storage;
    }

    /** Returns whether objects in memory are compared with their checksum before they go to the engine. */
    public boolean verifyMemory() {
        return verifyMemory;
    }

    private static int memoryObjects(Builder builder, CacheIdentity identity) {
        long objects = builder.memoryBytes / StorageConfig.pageBytes(identity.objectBytes());
        if (objects < 1) {
            throw new IllegalArgumentException("memoryBytes must hold at least one object of " + identity.objectBytes()
                    + " bytes (" + identity.chunkTokens() + " tokens of " + identity.layout() + "), got "
                    + builder.memoryBytes);
        }
        return (int) Math.min(objects, 1 << 28);
    }

    /** Collects the settings. */
    public static final class Builder {
        private final String modelName;
        private final List<FileTierConfig> tiers = new ArrayList<>();
        private String modelRevision = "";
        private String adapterName = "";
        private int chunkTokens = 256;
        private @Nullable KvLayout layout;
        private int worldSize = 1;
        private int rank;
        private long memoryBytes = 1L << 30;
        private EvictionPolicy.Kind memoryPolicy = EvictionPolicy.Kind.LRU;
        private boolean verifyMemory;

        private Builder(String modelName) {
            this.modelName = Objects.requireNonNull(modelName, "modelName");
        }

        /** Sets the revision of the weights; empty unless set. */
        public Builder modelRevision(String revision) {
            this.modelRevision = Objects.requireNonNull(revision, "revision");
            return this;
        }

        /** Sets the name of the LoRA adapter; empty unless set. */
        public Builder adapterName(String name) {
            this.adapterName = Objects.requireNonNull(name, "name");
            return this;
        }

        /** Sets the tokens per chunk; 256 unless set. */
        public Builder chunkTokens(int tokens) {
            this.chunkTokens = tokens;
            return this;
        }

        /** Sets the shape of the KV that this rank holds; required. */
        public Builder layout(KvLayout kvLayout) {
            this.layout = Objects.requireNonNull(kvLayout, "kvLayout");
            return this;
        }

        /** Sets which of how many ranks the cache is for; rank 0 of 1 unless set. */
        public Builder rank(int rankOfThis, int ranks) {
            this.rank = rankOfThis;
            this.worldSize = ranks;
            return this;
        }

        /** Sets the memory for objects in bytes; 1 GiB unless set. All of it is reserved when the cache is opened. */
        public Builder memoryBytes(long bytes) {
            this.memoryBytes = bytes;
            return this;
        }

        /** Sets which object leaves memory first; LRU unless set. */
        public Builder memoryPolicy(EvictionPolicy.Kind policy) {
            this.memoryPolicy = Objects.requireNonNull(policy, "policy");
            return this;
        }

        /** Adds a tier below memory; the first one added is asked first. */
        public Builder tier(FileTierConfig tier) {
            tiers.add(Objects.requireNonNull(tier, "tier"));
            return this;
        }

        /** Sets whether objects in memory are compared with their checksum before they go to the engine; off unless set. */
        public Builder verifyMemory(boolean verify) {
            this.verifyMemory = verify;
            return this;
        }

        /**
         * Checks and returns the settings.
         *
         * @throws IllegalArgumentException if a setting is missing or out of range
         */
        public KvCacheConfig build() {
            return new KvCacheConfig(this);
        }
    }
}
