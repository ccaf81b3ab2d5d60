package io.kvtier.object;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * Finds slots by key. One thread at a time enters and removes slots; all others may meanwhile search. The key of a slot
 * is in its record.
 */
final class SlotTable {
    /*
     * Extendible hashing (Fagin et al., ACM TODS 4(3), 1979): the upper bits of a mixed key choose one of 2^depth places of
     * `directory`, which names a segment; several places may name the same. A segment that is full is replaced by two, each
     * for half of its keys, so no call ever moves more than a segment; only the directory, 8 bytes or less for some
     * hundreds of keys, is copied as a whole when it doubles.
     *
     * A segment is a hash table of groups of eight slots, as in Abseil's flat_hash_map: a tag of 7 bits for each slot of a
     * group lies in one long, so that one comparison finds the few that may be it.
     *
     *     segment   version | depth | entered | deleted | group | group | ...      (longs)
     *     group     8 tags of a byte | 4 longs of 2 slots
     *
     * A search goes from a key's first group to the next until a group has an empty tag. A slot is removed by an empty tag
     * if its group has one already, and else by a deleted one, which searches pass. Replacing a segment drops those.
     *
     * A segment's version is odd while it is changed, and for ever once it has been replaced. A search believes what it read
     * if the version was the same even number before and after; else it begins anew at the directory. It waits for nothing
     * but a change that takes some microseconds.
     */
    static final int NONE = -1;

    private static final int VERSION = 0;
    private static final int DEPTH = 1;
    private static final int ENTERED = 2;
    private static final int DELETED = 3;
    private static final int HEADER = 4;
    private static final int GROUP_SLOTS = 8;
    private static final int GROUP_LONGS = 5;
    private static final int FIRST_GROUPS = 64;
    private static final int TAG_BITS = 7;

    private static final long ONES = 0x0101010101010101L;
    private static final long TOPS = 0x8080808080808080L;
    private static final long EMPTY_TAGS = TOPS;
    private static final long EMPTY = 0x80;
    private static final long GONE = 0xFE;
    /** A directory doubles only if there are so many keys for each of its places: keys that were made to collide do not. */
    private static final int KEYS_PER_PLACE = FIRST_GROUPS;

    private static final int SPINS = 64;

    private static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle SEGMENTS = MethodHandles.arrayElementVarHandle(long[][].class);

    private final ObjectRecords records;
    private volatile long[][] directory = {newSegment(0, FIRST_GROUPS)};
    private int size;

    SlotTable(ObjectRecords records) {
        this.records = records;
    }

    /** Returns the slot that is entered under a key, or {@link #NONE}. */
    int find(ObjectKeys keys, int i) {
        long key = ObjectRecords.mixedKey(keys, i);
        for (int tries = 1; ; tries++) {
            long[] segment = segment(key);
            long version = (long) LONGS.getAcquire(segment, VERSION);
            if ((version & 1) == 0) {
                int slot = find(segment, key, keys, i);
                VarHandle.loadLoadFence();
                if ((long) LONGS.getOpaque(segment, VERSION) == version) {
                    return slot;
                }
            }
            pause(tries);
        }
    }

    /** Returns the first slot that has a key's tag where a search for it begins, or {@link #NONE}: a guess, but cheap. */
    int guess(ObjectKeys keys, int i) {
        long key = ObjectRecords.mixedKey(keys, i);
        long[] segment = segment(key);
        int group = group(firstGroup(key, groups(segment)));
        long candidates = matches((long) LONGS.getOpaque(segment, group), key);
        return candidates == 0 ? NONE : slot(segment, group, place(candidates));
    }

    /**
     * Enters a slot under its key.
     *
     * @return false if there is one of the same key; nothing changed
     */
    boolean enter(int slot) {
        long key = records.mixedKey(slot);
        if (findSame(slot, key) != NONE) {
            return false;
        }
        long[] segment = segment(key);
        while (segment[ENTERED] + segment[DELETED] >= limit(segment)) {
            replace(segment, key);
            segment = segment(key);
        }
        beginChange(segment);
        add(segment, slot, key);
        endChange(segment);
        size++;
        return true;
    }

    /** Removes a slot that is entered. */
    void remove(int slot) {
        long key = records.mixedKey(slot);
        long[] segment = segment(key);
        int groups = groups(segment);
        int number = firstGroup(key, groups);
        while (true) {
            int group = group(number);
            for (long rest = matches(segment[group], key); rest != 0; rest &= rest - 1) {
                if (slot(segment, group, place(rest)) == slot) {
                    beginChange(segment);
                    remove(segment, group, place(rest));
                    endChange(segment);
                    size--;
                    return;
                }
            }
            if (empties(segment[group]) != 0) {
                throw new IllegalStateException("slot " + slot + " is not entered under its key");
            }
            number = (number + 1) & (groups - 1);
        }
    }

    /** Returns the bytes of the arrays. */
    long bytes() {
        long[][] places = directory;
        long bytes = (long) places.length * Integer.BYTES;
        for (int i = 0; i < places.length; i += places.length >>> places[i][DEPTH]) {
            bytes += (long) places[i].length * Long.BYTES;
        }
        return bytes;
    }

    private int find(long[] segment, long key, ObjectKeys keys, int i) {
        int groups = groups(segment);
        int number = firstGroup(key, groups);
        for (int tried = 0; tried < groups; tried++) {
            int group = group(number);
            long tags = (long) LONGS.getAcquire(segment, group);
            for (long rest = matches(tags, key); rest != 0; rest &= rest - 1) {
                int slot = slot(segment, group, place(rest));
                if (slot != NONE && records.isOf(slot, keys, i)) {
                    return slot;
                }
            }
            if (empties(tags) != 0) {
                return NONE;
            }
            number = (number + 1) & (groups - 1);
        }
        return NONE;
    }

    private int findSame(int slot, long key) {
        long[] segment = segment(key);
        int groups = groups(segment);
        int number = firstGroup(key, groups);
        while (true) {
            int group = group(number);
            for (long rest = matches(segment[group], key); rest != 0; rest &= rest - 1) {
                int other = slot(segment, group, place(rest));
                if (records.haveSameKey(slot, other)) {
                    return other;
                }
            }
            if (empties(segment[group]) != 0) {
                return NONE;
            }
            number = (number + 1) & (groups - 1);
        }
    }

    private static void add(long[] segment, int slot, long key) {
        int groups = groups(segment);
        int number = firstGroup(key, groups);
        long free = unused(segment[group(number)]);
        while (free == 0) {
            number = (number + 1) & (groups - 1);
            free = unused(segment[group(number)]);
        }
        int group = group(number);
        int place = place(free);
        if (tag(segment[group], place) == GONE) {
            segment[DELETED]--;
        }
        segment[ENTERED]++;
        setSlot(segment, group, place, slot);
        setTag(segment, group, place, tagOf(key));
    }

    private static void remove(long[] segment, int group, int place) {
        boolean passed = empties(segment[group]) == 0;
        setTag(segment, group, place, passed ? GONE : EMPTY);
        setSlot(segment, group, place, NONE);
        segment[ENTERED]--;
        if (passed) {
            segment[DELETED]++;
        }
    }

    /** Replaces a full segment by one without deleted tags, by two, or by a larger one. */
    private void replace(long[] full, long key) {
        beginChange(full);
        int depth = (int) full[DEPTH];
        int groups = groups(full);
        long[][] places = directory;
        boolean mayDouble = (long) places.length * KEYS_PER_PLACE <= size;
        if (full[ENTERED] <= limit(full) / 2) {
            setPlaces(places, key, depth, copy(full, depth, groups));
        } else if (1 << depth < places.length || mayDouble) {
            split(full, 1 << depth < places.length ? places : doubled(places), key);
        } else {
            setPlaces(places, key, depth, copy(full, depth, 2 * groups));
        }
    }

    private void split(long[] full, long[][] places, long key) {
        int depth = (int) full[DEPTH] + 1;
        long half = Long.MIN_VALUE >>> (depth - 1);
        long[] low = newSegment(depth, groups(full));
        long[] high = newSegment(depth, groups(full));
        forEach(full, (slot, of) -> add((of & half) == 0 ? low : high, slot, of));
        setPlaces(places, key & ~half, depth, low);
        setPlaces(places, key | half, depth, high);
        directory = places;
    }

    private long[] copy(long[] full, int depth, int groups) {
        long[] copy = newSegment(depth, groups);
        forEach(full, (slot, key) -> add(copy, slot, key));
        return copy;
    }

    private interface Entry {
        void accept(int slot, long key);
    }

    private void forEach(long[] segment, Entry consumer) {
        for (int number = 0; number < groups(segment); number++) {
            int group = group(number);
            for (long rest = ~segment[group] & TOPS; rest != 0; rest &= rest - 1) {
                int slot = slot(segment, group, place(rest));
                consumer.accept(slot, records.mixedKey(slot));
            }
        }
    }

    private static long[][] doubled(long[][] places) {
        long[][] doubled = new long[2 * places.length][];
        for (int i = 0; i < doubled.length; i++) {
            doubled[i] = places[i / 2];
        }
        return doubled;
    }

    /** Names a segment at all places whose first bits are a key's. */
    private static void setPlaces(long[][] places, long key, int depth, long[] segment) {
        int count = places.length >>> depth;
        int first = place(key, places.length) & -count;
        for (int i = first; i < first + count; i++) {
            SEGMENTS.setRelease(places, i, segment);
        }
    }

    private long[] segment(long key) {
        long[][] places = directory;
        return (long[]) SEGMENTS.getAcquire(places, place(key, places.length));
    }

    private static int place(long key, int places) {
        // In two steps, as a shift by 64 is none.
        return (int) (key >>> 1 >>> (Long.SIZE - 1 - Integer.numberOfTrailingZeros(places)));
    }

    private static void beginChange(long[] segment) {
        LONGS.setOpaque(segment, VERSION, segment[VERSION] + 1);
        VarHandle.storeStoreFence();
    }

    private static void endChange(long[] segment) {
        LONGS.setVolatile(segment, VERSION, segment[VERSION] + 1);
    }

    @SuppressWarnings("ThreadPriorityCheck") // The one who changes may wait for this core.
    private static void pause(int tries) {
        if (tries % SPINS == 0) {
            Thread.yield();
        } else {
            Thread.onSpinWait();
        }
    }

    private static long[] newSegment(int depth, int groups) {
        long[] segment = new long[HEADER + groups * GROUP_LONGS];
        segment[DEPTH] = depth;
        Arrays.fill(segment, HEADER, segment.length, -1);
        for (int number = 0; number < groups; number++) {
            segment[group(number)] = EMPTY_TAGS;
        }
        return segment;
    }

    private static int groups(long[] segment) {
        return (segment.length - HEADER) / GROUP_LONGS;
    }

    private static int limit(long[] segment) {
        return groups(segment) * (GROUP_SLOTS - 1);
    }

    private static int firstGroup(long key, int groups) {
        return (int) (key >>> TAG_BITS) & (groups - 1);
    }

    private static int group(int number) {
        return HEADER + number * GROUP_LONGS;
    }

    private static long tagOf(long key) {
        return key & ((1 << TAG_BITS) - 1);
    }

    /** Returns the top bit of each byte that may be a key's tag: those that are, and seldom one more. */
    private static long matches(long tags, long key) {
        long different = tags ^ tagOf(key) * ONES;
        return (different - ONES) & ~different & TOPS;
    }

    private static long empties(long tags) {
        return tags & ~(tags << 6) & TOPS;
    }

    private static long unused(long tags) {
        return tags & TOPS;
    }

    private static int place(long tops) {
        return Long.numberOfTrailingZeros(tops) >>> 3;
    }

    private static long tag(long tags, int place) {
        return tags >>> (place << 3) & 0xFF;
    }

    private static void setTag(long[] segment, int group, int place, long tag) {
        long others = segment[group] & ~(0xFFL << (place << 3));
        LONGS.setRelease(segment, group, others | tag << (place << 3));
    }

    private static int slot(long[] segment, int group, int place) {
        long pair = (long) LONGS.getAcquire(segment, group + 1 + (place >>> 1));
        return (int) (pair >>> ((place & 1) << 5));
    }

    private static void setSlot(long[] segment, int group, int place, int slot) {
        int at = group + 1 + (place >>> 1);
        int shift = (place & 1) << 5;
        long other = segment[at] & ~(0xFFFF_FFFFL << shift);
        LONGS.setRelease(segment, at, other | (slot & 0xFFFF_FFFFL) << shift);
    }
}
