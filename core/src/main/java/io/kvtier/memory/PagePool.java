package io.kvtier.memory;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Pages of one size over a slab. Any thread may allocate and free; no call blocks or allocates Java memory, and every
 * page of the slab can be used. The slab's owner keeps the slab open as long as pages are in use.
 *
 * <p>A page is named by a handle that is valid from its allocation to its free. A handle that was freed, or is of another
 * pool, is refused; only after the same page was allocated {@link #generations} times again, or 4096 more pools were made,
 * could one be taken for another.
 */
public final class PagePool {
    /*
     * FreePages decides who gets a page; `generations` who may free it. A page's generation goes up at each allocation and
     * each free and is odd while the page is in use. A free raises it by compare-and-set from what the handle says: of two
     * frees with one handle the second fails, whenever they meet.
     *
     * A handle is, from the highest bit: 1 bit zero | 12 bits pool | generation | page index. The index has as many bits as
     * the pool's pages need, the generation those that are left, at most 31.
     */
    /** What {@link #allocate()} and {@link #allocateRun} return when there is no such page. */
    public static final long NONE = -1;

    private static final int MAX_PAGES = 1 << 28;
    private static final int POOL_BITS = 12;

    private static final AtomicInteger POOLS = new AtomicInteger();
    private static final VarHandle INTS = MethodHandles.arrayElementVarHandle(int[].class);

    private final Slab slab;
    private final long pageBytes;
    private final int pages;
    private final int pool;
    private final int indexBits;
    private final int generationBits;
    private final int[] generations;
    private final FreePages freePages;

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
        this.indexBits = Integer.SIZE - Integer.numberOfLeadingZeros(pages - 1);
        this.generationBits = Math.min(Integer.SIZE - 1, Long.SIZE - 1 - POOL_BITS - indexBits);
        this.generations = new int[pages];
        this.freePages = new FreePages(pages);
    }

    /** Returns the handle of a page that now is the caller's, or {@link #NONE}. Its bytes are whatever was there. */
    public long allocate() {
        int index = freePages.take();
        return index == FreePages.NONE ? NONE : open(index);
    }

    /**
     * Allocates several pages or none.
     *
     * @param handles receives the handles; zeros if there are too few pages
     * @param from first element to fill
     * @param count number of pages
     * @return whether there were {@code count} pages; if not, the pool is unchanged
     * @throws IndexOutOfBoundsException if the elements are not in the array
     */
    public boolean allocate(long[] handles, int from, int count) {
        Objects.checkFromIndexSize(from, count, handles.length);
        int taken = freePages.take(handles, from, count);
        if (taken == count) {
            open(handles, from, count);
            return true;
        }
        for (int i = from; i < from + taken; i++) {
            freePages.give((int) handles[i]);
            handles[i] = 0;
        }
        return false;
    }

    /**
     * Allocates as many pages as there are, up to a number.
     *
     * @param handles receives the handles
     * @param from first element to fill
     * @param most largest number of pages
     * @return the number of pages that now are the caller's
     * @throws IndexOutOfBoundsException if the elements are not in the array
     */
    public int allocateUpTo(long[] handles, int from, int most) {
        Objects.checkFromIndexSize(from, most, handles.length);
        int taken = freePages.take(handles, from, most);
        open(handles, from, taken);
        return taken;
    }

    /**
     * Allocates pages that lie side by side, or none; each has a handle and is freed by itself.
     *
     * @param handles receives the handles in the order of the pages
     * @param from first element to fill
     * @param count number of pages, at least 1
     * @return whether there were so many side by side; if not, nothing changed
     * @throws IllegalArgumentException if {@code count} is below 1
     * @throws IndexOutOfBoundsException if the elements are not in the array
     */
    public boolean allocateRun(long[] handles, int from, int count) {
        Objects.checkFromIndexSize(from, count, handles.length);
        if (count < 1) {
            throw new IllegalArgumentException("a run has at least 1 page, got " + count);
        }
        int first = count > pages ? FreePages.NONE : freePages.takeRun(count);
        if (first == FreePages.NONE) {
            return false;
        }
        for (int i = 0; i < count; i++) {
            handles[from + i] = open(first + i);
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
        if (!INTS.compareAndSet(generations, index, generation, (generation + 1) & generationMask())) {
            throw notInUse(handle);
        }
        freePages.give(index);
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

    /** Returns the number of free pages. Counts them: a few microseconds per ten thousand pages. */
    public int free() {
        return freePages.count();
    }

    /** Returns the number of pages in use: {@code pages() - free()}. */
    public int used() {
        return pages - freePages.count();
    }

    /** Returns the most free pages that lie side by side. */
    public int longestFreeRun() {
        return freePages.longestRun();
    }

    /** Returns how often a page must be allocated until one of its old handles could be taken for a new one. */
    public long generations() {
        return 1L << (generationBits - 1);
    }

    /** Says why a request was refused: how much was asked for, and what is free. */
    public String refusal(int count) {
        return count + (count == 1 ? " page of " : " pages of ") + pageBytes + " bytes requested; of " + pages
                + " pages " + free() + " are free, at most " + longestFreeRun() + " side by side";
    }

    private void open(long[] handles, int from, int count) {
        for (int i = from; i < from + count; i++) {
            handles[i] = open((int) handles[i]);
        }
    }

    /** Begins the use of a page that was taken; returns its handle. */
    private long open(int index) {
        int generation = (generations[index] + 1) & generationMask();
        INTS.setRelease(generations, index, generation);
        return (long) pool << (indexBits + generationBits) | (long) generation << indexBits | index;
    }

    private int index(long handle) {
        int index = rawIndex(handle);
        boolean inUse = (generation(handle) & 1) == 1;
        if (handle >>> (indexBits + generationBits) != pool || index >= pages || !inUse) {
            throw notInUse(handle);
        }
        return index;
    }

    private int rawIndex(long handle) {
        return (int) handle & ((1 << indexBits) - 1);
    }

    private int generation(long handle) {
        return (int) (handle >>> indexBits) & generationMask();
    }

    private int generationMask() {
        return (int) ((1L << generationBits) - 1);
    }

    private IllegalStateException notInUse(long handle) {
        int index = rawIndex(handle);
        String found = index < pages ? ", whose generation is " + generations[index] : ", of " + pages + " pages";
        return new IllegalStateException(
                "handle 0x" + Long.toHexString(handle) + " is of no page in use in pool " + pool
                        + ": it names pool " + (handle >>> (indexBits + generationBits)) + ", generation "
                        + generation(handle) + ", page " + index + found);
    }
}
