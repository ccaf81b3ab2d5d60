package io.kvtier.memory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;

/** Which pages are free: one bit each, with a tree of summaries above. For all threads, without locks. */
final class FreePages {
    /*
     * `bits` holds 64 pages per word; a set bit is a free page, and who clears it by compare-and-set has the page. A bit
     * of summaries[0] says whether a word has any bit set, a bit of summaries[k] whether a word of summaries[k - 1] has,
     * up to a level of one word. So a free page is found in a few steps, however many pages there are.
     *
     *     summaries[1]   one word   bit i: summaries[0][i] != 0
     *     summaries[0]   words      bit i: word i of `bits` != 0
     *     bits           words      `stride` longs apart: in small pools each has a cache line of its own
     *
     * A summary bit may be wrong. It may be clear though the word below is not empty only while a call is at work that
     * will set it: who gives a page back looks at the bits above on all levels and sets those that are clear, whoever else
     * may be about to set them; who clears a bit then looks at the word below once more and sets the bit again if that was
     * filled meanwhile. A search that finds nothing while a clearing is under way does not believe the summaries and looks
     * at every word. So a page that is free during a whole call is found. A bit may also stay set above an empty word
     * (set again just when the word was emptied a second time): that costs a look, and the search that looks clears it.
     * A search goes past each word at most once, whatever the summaries say.
     *
     * Each thread (`threads`; many share an entry) goes on in the word where it took its last page until that is used up,
     * then in the word where it gave its last page back, then searches. So threads seldom meet, pages that are still in
     * a cache come first, and summaries change about once per word.
     */
    static final int NONE = -1;

    private static final VarHandle LONGS = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle INTS = MethodHandles.arrayElementVarHandle(int[].class);
    private static final int LINE_LONGS = 8;
    private static final int LINE_INTS = 16;
    private static final int MOST_WORDS_APART = 1 << 16;
    private static final int MOST_ENTRIES = 64;
    private static final int TAKING = 0;
    private static final int GIVING = 1;
    private static final int GOLDEN_RATIO = 0x9E3779B9;

    private final int pages;
    private final int words;
    private final int stride;
    private final long[] bits;
    private final long[][] summaries;
    private final int[] threads;
    private final int threadShift;
    private final AtomicInteger clearingsBegun = new AtomicInteger();
    private final AtomicInteger clearingsEnded = new AtomicInteger();

    FreePages(int pages) {
        this.pages = pages;
        this.words = words(pages);
        this.stride = words <= MOST_WORDS_APART ? LINE_LONGS : 1;
        this.bits = new long[words * stride];
        for (int word = 0; word < words; word++) {
            bits[word * stride] = lowest(pages - (word << 6));
        }
        this.summaries = summaries(words);
        int entries = Integer.highestOneBit(
                Math.min(MOST_ENTRIES, 4 * Runtime.getRuntime().availableProcessors()));
        this.threadShift = Integer.SIZE - Integer.numberOfTrailingZeros(entries);
        this.threads = new int[entries * LINE_INTS];
        for (int i = 0; i < entries; i++) {
            threads[i * LINE_INTS + TAKING] = (int) ((long) words * i / entries);
            threads[i * LINE_INTS + GIVING] = threads[i * LINE_INTS + TAKING];
        }
    }

    /** Takes a page; returns {@link #NONE} if none is free. */
    int take() {
        int slot = threadSlot();
        int word = (int) INTS.getOpaque(threads, slot + TAKING);
        long taken = takeFrom(word, 1);
        if (taken == 0) {
            word = (int) INTS.getOpaque(threads, slot + GIVING);
            taken = takeFrom(word, 1);
            if (taken == 0) {
                return search(slot);
            }
            INTS.setOpaque(threads, slot + TAKING, word);
        }
        return page(word, taken);
    }

    /**
     * Takes up to {@code count} pages.
     *
     * @param indexes receives them, from element {@code from} on
     * @return how many were free
     */
    int take(long[] indexes, int from, int count) {
        int taken = 0;
        while (taken < count) {
            int page = take();
            if (page == NONE) {
                return taken;
            }
            indexes[from + taken++] = page;
            int word = page >>> 6;
            taken += store(takeFrom(word, count - taken), word, indexes, from + taken);
        }
        return taken;
    }

    /** Takes adjacent pages, the first that are found; returns the first of them, or {@link #NONE}. */
    int takeRun(int count) {
        int from = 0;
        while (true) {
            int first = nextFree(from);
            if (first + count > pages) {
                return NONE;
            }
            int end = nextUsed(first, first + count);
            if (end < first + count) {
                from = end;
            } else if (takeAll(first, count)) {
                return first;
            }
        }
    }

    /** Gives a page back; only who took it may. */
    void give(int page) {
        int word = page >>> 6;
        give(word, 1L << page);
        INTS.setOpaque(threads, threadSlot() + GIVING, word);
    }

    /** Returns the number of free pages; while others take and give, one that was about right. */
    int count() {
        int count = 0;
        for (int word = 0; word < words; word++) {
            count += Long.bitCount(get(word));
        }
        return count;
    }

    /** Returns the most adjacent pages that are free. */
    int longestRun() {
        int longest = 0;
        for (int first = nextFree(0); first < pages; ) {
            int end = nextUsed(first, pages);
            longest = Math.max(longest, end - first);
            first = nextFree(end);
        }
        return longest;
    }

    /** Takes a page of the next word that has one, once around. */
    private int search(int slot) {
        int ended = clearingsEnded.get();
        int start = (int) INTS.getOpaque(threads, slot + TAKING) + 1;
        int page = takeBetween(start, words);
        if (page == NONE) {
            page = takeBetween(0, start);
        }
        if (page == NONE && clearingsBegun.get() != ended) {
            page = takeFromAny();
        }
        if (page != NONE) {
            INTS.setOpaque(threads, slot + TAKING, page >>> 6);
        }
        return page;
    }

    private int takeBetween(int from, int end) {
        for (int word = nonEmpty(0, from); word != NONE && word < end; word = nonEmpty(0, word + 1)) {
            long taken = takeFrom(word, 1);
            if (taken != 0) {
                return page(word, taken);
            }
            clearSummary(word);
        }
        return NONE;
    }

    /** Returns the first index at or after another that the summary of a level says is not empty. */
    private int nonEmpty(int level, int from) {
        long[] summary = summaries[level];
        int word = from >>> 6;
        if (word >= summary.length) {
            return NONE;
        }
        long found = (long) LONGS.getVolatile(summary, word) & (-1L << from);
        while (found == 0) {
            word = level + 1 < summaries.length ? nonEmpty(level + 1, word + 1) : NONE;
            if (word == NONE) {
                return NONE;
            }
            found = (long) LONGS.getVolatile(summary, word);
        }
        return page(word, found);
    }

    private int takeFromAny() {
        for (int word = 0; word < words; word++) {
            long taken = takeFrom(word, 1);
            if (taken != 0) {
                return page(word, taken);
            }
        }
        return NONE;
    }

    /** Takes up to {@code most} pages of a word; returns their bits. */
    private long takeFrom(int word, int most) {
        long free = get(word);
        while (free != 0) {
            long wanted = lowestSet(free, most);
            long witness = (long) LONGS.compareAndExchange(bits, word * stride, free, free & ~wanted);
            if (witness == free) {
                if (wanted == free) {
                    clearSummary(word);
                }
                return wanted;
            }
            free = witness;
        }
        return 0;
    }

    /** Takes given adjacent pages, all or none. */
    private boolean takeAll(int first, int count) {
        int end = first + count;
        for (int word = first >>> 6; (word << 6) < end; word++) {
            if (!takeExactly(word, mask(word, first, end))) {
                for (int taken = first >>> 6; taken < word; taken++) {
                    give(taken, mask(taken, first, end));
                }
                return false;
            }
        }
        return true;
    }

    private boolean takeExactly(int word, long mask) {
        long free = get(word);
        while ((free & mask) == mask) {
            long witness = (long) LONGS.compareAndExchange(bits, word * stride, free, free & ~mask);
            if (witness == free) {
                if (free == mask) {
                    clearSummary(word);
                }
                return true;
            }
            free = witness;
        }
        return false;
    }

    private void give(int word, long mask) {
        set(bits, word * stride, mask);
        setSummaries(0, word);
    }

    /** Sets the bits above a word that is not empty, from a level up. */
    private void setSummaries(int level, int word) {
        int index = word;
        for (int above = level; above < summaries.length; above++) {
            set(summaries[above], index >>> 6, 1L << index);
            index >>>= 6;
        }
    }

    private void clearSummary(int word) {
        clearingsBegun.getAndIncrement();
        clearSummary(0, word);
        clearingsEnded.getAndIncrement();
    }

    private void clearSummary(int level, int index) {
        if (clear(summaries[level], index >>> 6, 1L << index) && level + 1 < summaries.length) {
            clearSummary(level + 1, index >>> 6);
        }
        boolean refilled = level == 0 ? get(index) != 0 : (long) LONGS.getVolatile(summaries[level - 1], index) != 0;
        if (refilled) {
            setSummaries(level, index);
        }
    }

    private static void set(long[] array, int index, long mask) {
        long old = (long) LONGS.getVolatile(array, index);
        while ((old & mask) != mask) {
            long witness = (long) LONGS.compareAndExchange(array, index, old, old | mask);
            if (witness == old) {
                return;
            }
            old = witness;
        }
    }

    /** Clears bits; returns whether that made the word empty. */
    private static boolean clear(long[] array, int index, long mask) {
        long old = (long) LONGS.getVolatile(array, index);
        while ((old & mask) != 0) {
            long witness = (long) LONGS.compareAndExchange(array, index, old, old & ~mask);
            if (witness == old) {
                return old == mask;
            }
            old = witness;
        }
        return false;
    }

    private int nextFree(int from) {
        int word = from >>> 6;
        long found = word < words ? get(word) & (-1L << from) : 0;
        while (found == 0) {
            word++;
            if (word >= words) {
                return pages;
            }
            found = get(word);
        }
        return page(word, found);
    }

    /** Returns the first page in use at or after another, at most {@code limit}. */
    private int nextUsed(int from, int limit) {
        int word = from >>> 6;
        long used = ~get(word) & (-1L << from);
        while (used == 0) {
            word++;
            if ((word << 6) >= limit) {
                return limit;
            }
            used = ~get(word);
        }
        return Math.min(limit, (word << 6) + Long.numberOfTrailingZeros(used));
    }

    private long get(int word) {
        return (long) LONGS.getVolatile(bits, word * stride);
    }

    private int threadSlot() {
        int hash = (int) Thread.currentThread().threadId() * GOLDEN_RATIO;
        return (int) ((hash & 0xFFFF_FFFFL) >>> threadShift) * LINE_INTS;
    }

    /** Returns the first page of a word that a mask names. */
    private static int page(int word, long mask) {
        return (word << 6) + Long.numberOfTrailingZeros(mask);
    }

    private static int store(long mask, int word, long[] indexes, int from) {
        int at = from;
        for (long rest = mask; rest != 0; rest &= rest - 1) {
            indexes[at++] = page(word, rest);
        }
        return at - from;
    }

    private static long lowestSet(long mask, int count) {
        if (count == 1) {
            return mask & -mask;
        }
        if (Long.bitCount(mask) <= count) {
            return mask;
        }
        long rest = mask;
        for (int i = 0; i < count; i++) {
            rest &= rest - 1;
        }
        return mask ^ rest;
    }

    /** Returns the bits of a word's pages that lie in a range. */
    private static long mask(int word, int first, int end) {
        int base = word << 6;
        return lowest(end - base) & ~lowest(Math.max(0, first - base));
    }

    private static long lowest(int count) {
        return count >= Long.SIZE ? -1 : (1L << count) - 1;
    }

    private static int words(int bits) {
        return (bits + 63) >>> 6;
    }

    private static long[][] summaries(int children) {
        int levels = 1;
        for (int words = words(children); words > 1; words = words(words)) {
            levels++;
        }
        long[][] summaries = new long[levels][];
        int below = children;
        for (int level = 0; level < levels; level++) {
            summaries[level] = new long[words(below)];
            for (int word = 0; word < summaries[level].length; word++) {
                summaries[level][word] = lowest(below - (word << 6));
            }
            below = summaries[level].length;
        }
        return summaries;
    }
}
