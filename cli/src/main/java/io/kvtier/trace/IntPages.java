package io.kvtier.trace;

import java.util.Arrays;

/** A list of ints in pages, so that growing copies no ints and the list may be longer than an array. */
final class IntPages {
    private static final int PAGE_BITS = 14;
    private static final int PAGE = 1 << PAGE_BITS;

    private int[][] pages = new int[16][];
    private long size;

    void add(int value) {
        int page = pageOf(size);
        if ((size & (PAGE - 1)) == 0) {
            addPage(page);
        }
        pages[page][slotOf(size++)] = value;
    }

    int get(long index) {
        return pages[pageOf(index)][slotOf(index)];
    }

    void set(long index, int value) {
        pages[pageOf(index)][slotOf(index)] = value;
    }

    long size() {
        return size;
    }

    private void addPage(int page) {
        if (page == pages.length) {
            pages = Arrays.copyOf(pages, 2 * page);
        }
        pages[page] = new int[PAGE];
    }

    private static int pageOf(long index) {
        return (int) (index >>> PAGE_BITS);
    }

    private static int slotOf(long index) {
        return (int) index & (PAGE - 1);
    }
}
