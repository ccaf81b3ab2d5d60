package io.kvtier.transfer;

import io.kvtier.layout.KvLayout;
import java.lang.foreign.MemorySegment;

/**
 * Copies chunks between an engine's paged KV in host memory and objects. The slot mapping says where each token's rows
 * lie; runs of neighbouring slots are copied at once. Everything is checked before the first byte moves.
 */
public final class HostMover {
    private HostMover() {}

    /**
     * Gathers the rows of some tokens into an object.
     *
     * @param kv the engine's memory
     * @param slotMapping slot of each token of the prompt, token {@code t} at index {@code t}
     * @param fromToken first token
     * @param tokens number of tokens
     * @param object receives {@code [planes, layers, tokens, row]}
     * @throws IllegalArgumentException if the object has not just the bytes of so many tokens
     * @throws IndexOutOfBoundsException if a token has no slot or a slot is outside the engine's memory
     */
    public static void gather(PagedKv kv, int[] slotMapping, int fromToken, int tokens, MemorySegment object) {
        check(kv, slotMapping, fromToken, tokens, object);
        move(kv, slotMapping, fromToken, tokens, object, true);
    }

    /**
     * Scatters an object into the rows of some tokens; the reverse of {@link #gather}.
     *
     * @param kv the engine's memory
     * @param slotMapping slot of each token of the prompt, token {@code t} at index {@code t}
     * @param fromToken first token
     * @param tokens number of tokens
     * @param object holds {@code [planes, layers, tokens, row]}
     * @throws IllegalArgumentException if the object has not just the bytes of so many tokens
     * @throws IndexOutOfBoundsException if a token has no slot or a slot is outside the engine's memory
     */
    public static void scatter(PagedKv kv, int[] slotMapping, int fromToken, int tokens, MemorySegment object) {
        check(kv, slotMapping, fromToken, tokens, object);
        move(kv, slotMapping, fromToken, tokens, object, false);
    }

    /**
     * Checks a slot mapping.
     *
     * @throws IndexOutOfBoundsException if a token of the range has no slot or a slot is outside the engine's memory
     */
    public static void checkSlots(PagedKv kv, int[] slotMapping, int fromToken, int tokens) {
        if (fromToken < 0 || tokens < 0 || tokens > slotMapping.length - fromToken) {
            throw new IndexOutOfBoundsException("tokens " + fromToken + " to " + ((long) fromToken + tokens - 1)
                    + " need a slot each, but the slot mapping has " + slotMapping.length);
        }
        for (int token = fromToken; token < fromToken + tokens; token++) {
            int slot = slotMapping[token];
            if (slot < 0 || slot >= kv.slots()) {
                throw new IndexOutOfBoundsException("slot " + slot + " of token " + token
                        + " is outside the engine's memory of " + kv.slots() + " slots (" + kv.blocks()
                        + " blocks of " + kv.blockTokens() + " tokens)");
            }
        }
    }

    private static void check(PagedKv kv, int[] slotMapping, int fromToken, int tokens, MemorySegment object) {
        long expected = kv.layout().objectBytes(tokens);
        if (object.byteSize() != expected) {
            throw new IllegalArgumentException("an object of " + tokens + " tokens in layout " + kv.layout() + " has "
                    + expected + " bytes, got " + object.byteSize());
        }
        checkSlots(kv, slotMapping, fromToken, tokens);
    }

    private static void move(
            PagedKv kv, int[] slotMapping, int fromToken, int tokens, MemorySegment object, boolean gather) {
        int end = fromToken + tokens;
        for (int start = fromToken; start < end; ) {
            int run = runLength(slotMapping, start, end);
            moveRun(kv, slotMapping[start], start - fromToken, run, tokens, object, gather);
            start += run;
        }
    }

    private static int runLength(int[] slotMapping, int start, int end) {
        int length = 1;
        while (start + length < end && slotMapping[start + length] == slotMapping[start] + length) {
            length++;
        }
        return length;
    }

    private static void moveRun(
            PagedKv kv, int slot, int token, int run, int tokens, MemorySegment object, boolean gather) {
        KvLayout layout = kv.layout();
        long row = layout.rowBytes();
        for (int plane = 0; plane < layout.planes(); plane++) {
            for (int layer = 0; layer < layout.layers(); layer++) {
                MemorySegment rows = kv.plane(layer, plane);
                long at = layout.planeOffset(plane, layer, tokens) + token * row;
                if (gather) {
                    MemorySegment.copy(rows, slot * row, object, at, run * row);
                } else {
                    MemorySegment.copy(object, at, rows, slot * row, run * row);
                }
            }
        }
    }
}
