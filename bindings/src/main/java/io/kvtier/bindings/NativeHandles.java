package io.kvtier.bindings;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** Counts the native handles of this process that are not closed, by kind; tests end with none. */
public final class NativeHandles {
    private static final Map<String, LongAdder> LIVE = new ConcurrentHashMap<>();

    private NativeHandles() {}

    /** Returns the number of live handles by kind, e.g. {@code nixl.agent}; kinds without any are left out. */
    public static Map<String, Long> live() {
        Map<String, Long> live = new TreeMap<>();
        LIVE.forEach((kind, count) -> {
            if (count.sum() != 0) {
                live.put(kind, count.sum());
            }
        });
        return live;
    }

    /** Counts a handle that was made. */
    public static void opened(String kind) {
        LIVE.computeIfAbsent(kind, _ -> new LongAdder()).increment();
    }

    /** Counts a handle that was freed. */
    public static void closed(String kind) {
        LIVE.computeIfAbsent(kind, _ -> new LongAdder()).decrement();
    }
}
