package io.kvtier.llama;

import java.util.Arrays;
import java.util.Random;

/**
 * The blocks of one sequence in an engine's paged KV, scattered on purpose: the first block is not block 0, no two
 * neighbours in the sequence are neighbours in memory, and some blocks are not used at all. Code that confuses
 * positions and slots does not get away with it. Immutable.
 */
public final class BlockTable {
    private final int maxTokens;
    private final int blockTokens;
    private final int blocks;
    private final int[] table;

    private BlockTable(int maxTokens, int blockTokens, int blocks, int[] table) {
        this.maxTokens = maxTokens;
        this.blockTokens = blockTokens;
        this.blocks = blocks;
        this.table = table;
    }

    /**
     * Creates a table; equal arguments give equal tables.
     *
     * @param maxTokens positions to map, at least 1
     * @param blockTokens tokens per block, at least 1
     * @param spareBlocks blocks beyond those that the positions need, at least 1
     * @param seed chooses the order of the blocks
     * @throws IllegalArgumentException if an argument is below its least value, or the slots exceed the int range
     */
    public static BlockTable permuted(int maxTokens, int blockTokens, int spareBlocks, long seed) {
        requirePositive("maxTokens", maxTokens);
        requirePositive("blockTokens", blockTokens);
        requirePositive("spareBlocks", spareBlocks);
        int needed = Math.ceilDiv(maxTokens, blockTokens);
        long slots = ((long) needed + spareBlocks) * blockTokens;
        if (slots > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("(" + needed + " + " + spareBlocks + " spare) blocks of " + blockTokens
                    + " tokens exceed " + Integer.MAX_VALUE + " slots");
        }
        int[] table = scatter(needed + spareBlocks, needed, new Random(seed));
        return new BlockTable(maxTokens, blockTokens, needed + spareBlocks, table);
    }

    /** Returns the number of blocks that the paged KV must have. */
    public int blocks() {
        return blocks;
    }

    /** Returns the tokens per block. */
    public int blockTokens() {
        return blockTokens;
    }

    /** Returns the slot of each position from 0, in a new array of {@code maxTokens}. */
    public int[] slotMapping() {
        int[] slots = new int[maxTokens];
        for (int position = 0; position < maxTokens; position++) {
            slots[position] = table[position / blockTokens] * blockTokens + position % blockTokens;
        }
        return slots;
    }

    private static int[] scatter(int blocks, int needed, Random random) {
        int[] order = new int[blocks];
        for (int i = 0; i < blocks; i++) {
            order[i] = i;
        }
        // About one order in three or more will do: descending ones always do, so the loop ends.
        do {
            shuffle(order, random);
        } while (!isScattered(order, needed));
        return Arrays.copyOf(order, needed);
    }

    private static void shuffle(int[] order, Random random) {
        for (int i = order.length - 1; i > 0; i--) {
            int other = random.nextInt(i + 1);
            int block = order[i];
            order[i] = order[other];
            order[other] = block;
        }
    }

    private static boolean isScattered(int[] order, int needed) {
        if (order[0] == 0) {
            return false;
        }
        for (int i = 1; i < needed; i++) {
            if (order[i] == order[i - 1] + 1) {
                return false;
            }
        }
        return true;
    }

    private static void requirePositive(String name, int value) {
        if (value < 1) {
            throw new IllegalArgumentException(name + " must be at least 1, got " + value);
        }
    }
}
