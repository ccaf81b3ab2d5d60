package io.kvtier.transfer;

import io.kvtier.layout.KvLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * An engine's paged KV in host memory: for each layer and plane one segment of {@code blocks * blockTokens} rows, a row
 * being one token's {@code heads * headSize} elements. A token's row is addressed by its <em>slot</em>, {@code block *
 * blockTokens + offset}, in every plane alike. The engine owns the memory; this is a view.
 */
public final class PagedKv {
    private final KvLayout layout;
    private final int blocks;
    private final int blockTokens;
    private final MemorySegment[] planes;

    /**
     * Creates the view.
     *
     * @param layout what a row, the planes and the layers are
     * @param blocks number of blocks
     * @param blockTokens tokens per block
     * @param planes segments in the order {@code layer * layout.planes() + plane}, each of {@code blocks * blockTokens
     *     * layout.rowBytes()} bytes
     * @throws IllegalArgumentException if the number or a size of the segments does not fit the layout
     */
    public PagedKv(KvLayout layout, int blocks, int blockTokens, List<MemorySegment> planes) {
        this.layout = Objects.requireNonNull(layout, "layout");
        this.blocks = requirePositive("blocks", blocks);
        this.blockTokens = requirePositive("blockTokens", blockTokens);
        this.planes = planes.toArray(MemorySegment[]::new);
        int expected = layout.layers() * layout.planes();
        if (this.planes.length != expected) {
            throw new IllegalArgumentException("paged KV of layout " + layout + " needs " + expected
                    + " plane segments (layers x planes), got " + this.planes.length);
        }
        if (slots() > Long.MAX_VALUE / layout.rowBytes()) {
            throw new IllegalArgumentException("a plane of " + blocks + " blocks of " + blockTokens + " tokens of "
                    + layout.rowBytes() + " bytes exceeds 2^63 - 1 bytes");
        }
        long bytes = slots() * layout.rowBytes();
        for (int i = 0; i < expected; i++) {
            if (this.planes[i].byteSize() != bytes) {
                throw new IllegalArgumentException("plane segment " + i + " must have " + bytes + " bytes (" + blocks
                        + " blocks of " + blockTokens + " tokens of " + layout.rowBytes() + " bytes), got "
                        + this.planes[i].byteSize());
            }
        }
    }

    /**
     * Allocates zeroed paged KV in an arena, 64-byte aligned; the arena owns it.
     *
     * @throws IllegalArgumentException if {@code blocks} or {@code blockTokens} is below 1
     */
    public static PagedKv allocate(KvLayout layout, int blocks, int blockTokens, Arena arena) {
        long bytes = (long) requirePositive("blocks", blocks)
                * requirePositive("blockTokens", blockTokens)
                * layout.rowBytes();
        List<MemorySegment> planes = new ArrayList<>();
        for (int i = 0; i < layout.layers() * layout.planes(); i++) {
            planes.add(arena.allocate(bytes, 64));
        }
        return new PagedKv(layout, blocks, blockTokens, planes);
    }

    /** Returns the layout of the rows, planes and layers. */
    public KvLayout layout() {
        return layout;
    }

    /** Returns the number of blocks. */
    public int blocks() {
        return blocks;
    }

    /** Returns the tokens per block. */
    public int blockTokens() {
        return blockTokens;
    }

    /** Returns the number of slots: {@code blocks * blockTokens}. */
    public long slots() {
        return (long) blocks * blockTokens;
    }

    /**
     * Returns the rows of a layer's plane (plane 0: keys or latents, 1: values); slot {@code s} begins at byte {@code s *
     * layout().rowBytes()}.
     *
     * @throws IndexOutOfBoundsException if there is no such layer or plane
     */
    public MemorySegment plane(int layer, int plane) {
        Objects.checkIndex(layer, layout.layers());
        Objects.checkIndex(plane, layout.planes());
        return planes[layer * layout.planes() + plane];
    }

    private static int requirePositive(String name, int value) {
        if (value < 1) {
            throw new IllegalArgumentException(name + " must be at least 1, got " + value);
        }
        return value;
    }
}
