package io.kvtier;

import io.kvtier.store.StorageManager;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Field;

/** Changes bytes in memory behind a cache's back. */
final class MemoryFault {
    private MemoryFault() {}

    /** Flips one bit of a chunk that is in memory. */
    static void flipByte(KvCache cache, int[] tokens, int chunk) throws ReflectiveOperationException {
        Field field = KvCache.class.getDeclaredField("storage");
        field.setAccessible(true);
        StorageManager storage = (StorageManager) field.get(cache);
        try (PrefixLease lease = cache.lookup(tokens)) {
            long address = storage.segment(lease.leases(), chunk).address();
            MemorySegment first = MemorySegment.ofAddress(address).reinterpret(1);
            first.set(ValueLayout.JAVA_BYTE, 0, (byte) (first.get(ValueLayout.JAVA_BYTE, 0) ^ 1));
        }
    }
}
