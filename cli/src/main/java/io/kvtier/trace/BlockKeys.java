package io.kvtier.trace;

import java.util.Arrays;
import java.util.Objects;

/** The keys of blocks 0, 1, 2 ..., in pages. */
final class BlockKeys {
    /** Length of a key: that of SHA-256. */
    static final int BYTES = 32;

    private static final int PAGE_BITS = 12;
    private static final int PAGE = 1 << PAGE_BITS;

    private byte[][] pages = new byte[16][];
    private int size;

    void add(byte[] key) {
        int page = size >>> PAGE_BITS;
        if ((size & (PAGE - 1)) == 0) {
            addPage(page);
        }
        System.arraycopy(key, 0, pages[page], offsetOf(size++), BYTES);
    }

    void copy(int block, byte[] out, int offset) {
        Objects.checkIndex(block, size);
        System.arraycopy(pages[block >>> PAGE_BITS], offsetOf(block), out, offset, BYTES);
    }

    private void addPage(int page) {
        if (page == pages.length) {
            pages = Arrays.copyOf(pages, 2 * page);
        }
        pages[page] = new byte[PAGE * BYTES];
    }

    private static int offsetOf(int block) {
        return (block & (PAGE - 1)) * BYTES;
    }
}
