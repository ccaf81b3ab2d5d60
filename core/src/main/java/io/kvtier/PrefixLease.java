package io.kvtier;

import io.kvtier.object.ObjectKeys;
import io.kvtier.store.ObjectLeases;

/**
 * What a lookup found: the longest prefix of a prompt, in whole chunks, whose KV is in the cache. Until the lease is
 * closed, none of it is evicted. For one thread at a time.
 */
public final class PrefixLease implements AutoCloseable {
    private final int chunkTokens;
    private final ObjectKeys keys;
    private final ObjectLeases leases = new ObjectLeases();

    PrefixLease(int chunkTokens, ObjectKeys keys) {
        this.chunkTokens = chunkTokens;
        this.keys = keys;
    }

    /** Returns the number of tokens of the prefix; 0 if nothing was found or the lease is closed. */
    public int tokens() {
        return leases.size() * chunkTokens;
    }

    /** Returns the number of chunks of the prefix. */
    public int chunks() {
        return leases.size();
    }

    /**
     * Returns the tier that holds a chunk: 0 is memory, tiers below count from 1.
     *
     * @throws IndexOutOfBoundsException if there is no such chunk
     */
    public int tier(int chunk) {
        return leases.tier(chunk);
    }

    /** Lets go of everything. Closing twice does nothing. */
    @Override
    public void close() {
        leases.close();
    }

    ObjectKeys keys() {
        return keys;
    }

    ObjectLeases leases() {
        return leases;
    }
}
