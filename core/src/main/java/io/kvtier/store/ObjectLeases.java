package io.kvtier.store;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Leases on a leading run of objects, one after the other: until it is closed, none of them is evicted. It belongs to the
 * caller, who may use it for one lookup after another; it is for one thread at a time.
 */
public final class ObjectLeases implements AutoCloseable {
    /** The number of the memory tier; tiers below it count from 1. */
    public static final int MEMORY = 0;

    private long[] leases = new long[16];
    private byte[] tiers = new byte[16];
    private int size;
    private @Nullable StorageManager owner;

    /** Creates an empty set of leases. */
    public ObjectLeases() {}

    /** Returns the number of objects held. */
    public int size() {
        return size;
    }

    /**
     * Returns the tier that holds an object: {@link #MEMORY}, or from 1 for those below.
     *
     * @throws IndexOutOfBoundsException if there is no such object
     */
    public int tier(int index) {
        return tiers[Objects.checkIndex(index, size)];
    }

    /** Gives the leases from an index on back. */
    public void truncate(int newSize) {
        Objects.checkIndex(newSize, size + 1);
        StorageManager manager = owner;
        while (size > newSize && manager != null) {
            size--;
            manager.release(tiers[size], leases[size]);
        }
    }

    /** Gives all leases back. Closing twice does nothing. */
    @Override
    public void close() {
        truncate(0);
        owner = null;
    }

    void begin(StorageManager manager) {
        if (size > 0) {
            throw new IllegalStateException("these leases still hold " + size + " objects; close them first");
        }
        owner = manager;
    }

    /** Makes them leases of a manager, which they may be already. */
    void belongTo(StorageManager manager) {
        if (owner != manager) {
            begin(manager);
        }
    }

    void add(int tier, long lease) {
        if (size == leases.length) {
            leases = Arrays.copyOf(leases, 2 * size);
            tiers = Arrays.copyOf(tiers, 2 * size);
        }
        leases[size] = lease;
        tiers[size] = (byte) tier;
        size++;
    }

    void replace(int index, int tier, long lease) {
        tiers[index] = (byte) tier;
        leases[index] = lease;
    }

    long lease(int index, StorageManager manager) {
        requireOwner(manager);
        return leases[Objects.checkIndex(index, size)];
    }

    void requireOwner(StorageManager manager) {
        if (owner != manager) {
            throw new IllegalStateException(
                    owner == null ? "these leases are closed" : "these leases are of another storage manager");
        }
    }
}
