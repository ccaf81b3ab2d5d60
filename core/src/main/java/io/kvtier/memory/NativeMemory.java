package io.kvtier.memory;

import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.LongAdder;

/** Counts the bytes of native memory of this process that kvtier has not freed, by what they are for. */
public final class NativeMemory {
    /** What native memory is for. */
    public enum Purpose {
        /** Cached objects: the slab of a memory tier. */
        OBJECTS,
        /** Bytes on their way from one place to another. */
        STAGING,
        /** What is known of objects: indexes, bitmaps, tables. */
        METADATA,
        /** A user's own slabs and arenas. */
        OTHER
    }

    private static final Map<Purpose, LongAdder> LIVE = new EnumMap<>(Purpose.class);

    static {
        for (Purpose purpose : Purpose.values()) {
            LIVE.put(purpose, new LongAdder());
        }
    }

    private NativeMemory() {}

    /** Returns the live bytes of a purpose. */
    public static long liveBytes(Purpose purpose) {
        return counter(purpose).sum();
    }

    /** Returns the live bytes of all purposes. */
    public static long liveBytes() {
        return Arrays.stream(Purpose.values())
                .mapToLong(NativeMemory::liveBytes)
                .sum();
    }

    /** Returns the live bytes by purpose; purposes without any are left out. */
    public static Map<Purpose, Long> live() {
        Map<Purpose, Long> live = new EnumMap<>(Purpose.class);
        for (Purpose purpose : Purpose.values()) {
            long bytes = liveBytes(purpose);
            if (bytes != 0) {
                live.put(purpose, bytes);
            }
        }
        return live;
    }

    /** Returns an arena for the calling thread whose bytes are counted until it is closed, which is the caller's to do. */
    @SuppressWarnings("MustBeClosedChecker") // the caller closes it
    public static Arena confined(Purpose purpose) {
        return new CountedArena(Arena.ofConfined(), purpose);
    }

    /** Returns an arena for all threads whose bytes are counted until it is closed, which is the caller's to do. */
    @SuppressWarnings("MustBeClosedChecker") // the caller closes it
    public static Arena shared(Purpose purpose) {
        return new CountedArena(Arena.ofShared(), purpose);
    }

    /** Counts bytes that were allocated, or freed if the number is negative. */
    static void count(Purpose purpose, long bytes) {
        counter(purpose).add(bytes);
    }

    private static LongAdder counter(Purpose purpose) {
        return Objects.requireNonNull(LIVE.get(purpose), "purpose");
    }
}
