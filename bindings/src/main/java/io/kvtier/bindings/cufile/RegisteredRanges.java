package io.kvtier.bindings.cufile;

import java.util.Map;
import java.util.TreeMap;

/** All memory of this process that is registered with cuFile through this package. Keeps it reachable, too. */
final class RegisteredRanges {
    private static final TreeMap<Long, RegisteredBuffer> BY_ADDRESS = new TreeMap<>();

    private RegisteredRanges() {}

    /** Adds a buffer, or refuses one that overlaps another. */
    static void add(RegisteredBuffer buffer) {
        synchronized (BY_ADDRESS) {
            Map.Entry<Long, RegisteredBuffer> before = BY_ADDRESS.lowerEntry(buffer.address() + buffer.byteSize());
            if (before != null && before.getKey() + before.getValue().byteSize() > buffer.address()) {
                throw new IllegalArgumentException("cannot register " + buffer + ": " + before.getValue()
                        + " holds some of its memory; use that one, or close it first");
            }
            BY_ADDRESS.put(buffer.address(), buffer);
        }
    }

    static void remove(RegisteredBuffer buffer) {
        synchronized (BY_ADDRESS) {
            BY_ADDRESS.remove(buffer.address());
        }
    }
}
