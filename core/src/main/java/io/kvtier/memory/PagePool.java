package io.kvtier.memory;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Pages of one size over a slab. Any thread may allocate and free; no call blocks or allocates Java memory, and every
 * page of the slab can be used. The slab's owner keeps the slab open as long as pages are in use.
 *
 * <p>A page is named by a handle that is valid from its allocation to its free. A handle that was freed, or is of another
 * pool, is refused; only after the same page was allocated 2^23 times again, or 2048 more pools were made, could one be
 * taken for another.
 */
public final class PagePool {
    /*
     * Free pages form a stack (Treiber 1986): `head` holds the first one, `next` the links. A tag in the upper half of
     * `head` counts the pops, so that a pop which read a link that is no longer true fails (ABA). Before a pop, a caller
     * takes its pages from the counter `free`, which is raised only after a push: the stack holds at least as many pages
     * as the counter promises, so a batch either gets all its pages or has changed nothing.
     *
     * A handle is, from the highest bit: 1 bit zero | 11 bits pool | 24 bits generation | 28 bits page index. A page's
     * generation goes up at each allocation and each free and is odd while the page is in use; a free with any other
     * generation is a free of something that the caller does not own.
     */
    /** What {@link #allocate()} returns when no page is free. */
    public static final long NONE = -1;

    private static final int INDEX_BITS = 28;
    private static final int GENERATION_BITS = 24;
    private static final int POOL_BITS = 11;
    private static final int MAX_PAGES = 1 << INDEX_BITS;
    private static final int GENERATION_MASK = (1 << GENERATION_BITS) - 1;
    private static final int END = -1;

    private static final AtomicInteger POOLS = new AtomicInteger();
    private static final VarHandle INTS = MethodHandles.arrayElementVarHandle(int[].class);

    private final Slab slab;
    private final long pageBytes;
    private final int pages;
    private final int pool;
    private final int[] next;
    private final int[] generations;
    private final AtomicLong head;
    private final AtomicInteger free;

    /**
     * Cuts a slab into pages.
     *
     * @param slab the memory, owned by the caller
     * @param pageBytes size of a page, at least 1; the slab's last bytes that make no whole page stay unused
     * @throws IllegalArgumentException if the slab is smaller than a page or holds more than 2^28 of them
     */
    public PagePool(Slab slab, long pageBytes) {
        this.slab = Objects.requireNonNull(slab, "slab");
        if (pageBytes < 1 || pageBytes > slab.byteSize()) {
            throw new IllegalArgumentException(
                    "pageBytes must be from 1 to the slab's " + slab.byteSize() + ", got " + pageBytes);
        }
        long count = slab.byteSize() / pageBytes;
        if (count > MAX_PAGES) {
            throw new IllegalArgumentException("a pool holds at most " + MAX_PAGES + " pages, but a slab of "
                    + slab.byteSize() + " bytes has " + count + " of " + pageBytes + " bytes");
        }
        this.pageBytes = pageBytes;
        this.pages = (int) count;
        this.pool = POOLS.getAndIncrement() & ((1 << POOL_BITS) - 1);
        this.next = new int[pages];
        this.generations = new int[pages];
        for (int i = 0; i < pages; i++) {
            next[i] = i + 1 < pages ? i + 1 : END;
        }
        this.head = new AtomicLong(0);
        this.free = new AtomicInteger(pages);
    }

    /** Returns the handle of a page that now is the caller's, or {@link #NONE}. Its bytes are whatever was there. */
    public long allocate() {
        return take(1) ? pop() : NONE;
    }

    /**
     * Allocates several pages or none.
     *
     * @param handles receives the handles
     * @param from first element to fill
     * @param count number of pages
     * @return whether {@code count} pages were free; if not, nothing changed
     * @throws IndexOutOfBoundsException if the elements are not in the array
     */
    public boolean allocate(long[] handles, int from, int count) {
        Objects.checkFromIndexSize(from, count, handles.length);
        if (!take(count)) {
            return false;
        }
        for (int i = 0; i < count; i++) {
            handles[from + i] = pop();
        }
        return true;
    }

    /**
     * Gives a page back.
     *
     * @throws IllegalStateException if the handle is not of a page in use in this pool: freed before, of another pool,
     *     or made up; the pool is unchanged
     */
    public void free(long handle) {
        int index = index(handle);
        int generation = generation(handle);
        if (!INTS.compareAndSet(generations, index, generation, (generation + 1) & GENERATION_MASK)) {
            throw notInUse(handle);
        }
        push(index);
        free.incrementAndGet();
    }

    /**
     * Returns a page's memory.
     *
     * @throws IllegalStateException if the handle is not of a page in use in this pool
     */
    public MemorySegment page(long handle) {
        return slab.segment().asSlice(offset(handle), pageBytes);
    }

    /**
     * Returns where a page begins in the slab, in bytes.
     *
     * @throws IllegalStateException if the handle is not of a page in use in this pool
     */
    public long offset(long handle) {
        int index = index(handle);
        if ((int) INTS.getVolatile(generations, index) != generation(handle)) {
            throw notInUse(handle);
        }
        return index * pageBytes;
    }

    /** Returns the size of a page in bytes. */
    public long pageBytes() {
        return pageBytes;
    }

    /** Returns the number of pages, free or in use. */
    public int pages() {
        return pages;
    }

    /** Returns the number of free pages. */
    public int free() {
        return free.get();
    }

    /** Returns the number of pages in use: {@code pages() - free()}. */
    public int used() {
        return pages - free.get();
    }

    private boolean take(int count) {
        int available = free.get();
        while (available >= count) {
            int witness = free.compareAndExchange(available, available - count);
            if (witness == available) {
                return true;
            }
            available = witness;
        }
        return false;
    }

    private long pop() {
        long top = head.get();
        while (true) {
            int index = (int) top;
            int link = (int) INTS.getOpaque(next, index);
            long replacement = ((top >>> 32) + 1) << 32 | Integer.toUnsignedLong(link);
            long witness = head.compareAndExchange(top, replacement);
            if (witness == top) {
                return handle(index, raiseGeneration(index));
            }
            top = witness;
        }
    }

    private void push(int index) {
        long top = head.get();
        while (true) {
            INTS.setOpaque(next, index, (int) top);
            long replacement = (top & 0xFFFF_FFFF_0000_0000L) | index;
            long witness = head.compareAndExchange(top, replacement);
            if (witness == top) {
                return;
            }
            top = witness;
        }
    }

    private int raiseGeneration(int index) {
        int generation = (generations[index] + 1) & GENERATION_MASK;
        INTS.setRelease(generations, index, generation);
        return generation;
    }

    private long handle(int index, int generation) {
        return (long) pool << (INDEX_BITS + GENERATION_BITS) | (long) generation << INDEX_BITS | index;
    }

    private int index(long handle) {
        int index = (int) handle & (MAX_PAGES - 1);
        boolean inUse = (generation(handle) & 1) == 1;
        if (handle >>> (INDEX_BITS + GENERATION_BITS) != pool || index >= pages || !inUse) {
            throw notInUse(handle);
        }
        return index;
    }

    private static int generation(long handle) {
        return (int) (handle >>> INDEX_BITS) & GENERATION_MASK;
    }

    private IllegalStateException notInUse(long handle) {
        int index = (int) handle & (MAX_PAGES - 1);
        String found = index < pages ? ", whose generation is " + generations[index] : ", of " + pages + " pages";
        return new IllegalStateException(
                "handle 0x" + Long.toHexString(handle) + " is of no page in use in pool " + pool
                        + ": it names pool " + (handle >>> (INDEX_BITS + GENERATION_BITS)) + ", generation "
                        + generation(handle) + ", page " + index + found);
    }
}
