package io.kvtier.policy;

import java.util.Arrays;
import java.util.Locale;
import java.util.function.IntPredicate;
import java.util.stream.Collectors;

/**
 * Keeps the order of a tier's objects and names victims; it holds no bytes and no leases. Objects are named by the
 * slots of the tier's index. Not thread-safe: the tier's lock guards it.
 */
public interface EvictionPolicy {
    /** The policies that can be asked for by name. */
    enum Kind {
        /** Least recently used goes first. */
        LRU {
            @Override
            public EvictionPolicy create() {
                return new LruPolicy();
            }
        },
        /** First in, first out: a touch moves nothing. */
        FIFO {
            @Override
            public EvictionPolicy create() {
                return new FifoPolicy();
            }
        };

        /** Returns a new, empty policy of this kind. */
        public abstract EvictionPolicy create();

        /**
         * Returns the kind with a name, in any case.
         *
         * @throws IllegalArgumentException if there is none; the message lists the known ones
         */
        public static Kind named(String name) {
            for (Kind kind : values()) {
                if (kind.name().equalsIgnoreCase(name)) {
                    return kind;
                }
            }
            throw new IllegalArgumentException("unknown eviction policy '" + name + "'; known: "
                    + Arrays.stream(values())
                            .map(kind -> kind.name().toLowerCase(Locale.ROOT))
                            .collect(Collectors.joining(", ")));
        }
    }

    /** A slot's object became resident. */
    void added(int slot);

    /** A slot's object was used. */
    void touched(int slot);

    /** A slot's object is no longer resident. */
    void removed(int slot);

    /**
     * Returns the next victim without removing it, or -1 if no object may go.
     *
     * @param evictable whether a slot's object may go now
     */
    int victim(IntPredicate evictable);
}
