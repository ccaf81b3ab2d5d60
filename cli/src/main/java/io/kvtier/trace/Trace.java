package io.kvtier.trace;

import java.util.Objects;

/**
 * The requests of a trace in the order they arrive, each with its input length and its leading blocks. Immutable and
 * compact: a reference to a block takes four bytes, a distinct block some forty.
 *
 * <p>A block stands for its own tokens and all tokens before them, so two requests that share a block share the whole
 * prefix that ends with it.
 */
public final class Trace {
    private final String format;
    private final RequestTable requests;
    private final IntPages references;
    private final IntPages tokens;
    private final BlockKeys keys;
    private final long skippedLines;
    private final long blockReferences;
    private final long inputTokens;

    Trace(
            String format,
            RequestTable requests,
            IntPages references,
            IntPages tokens,
            BlockKeys keys,
            long skippedLines) {
        this.format = format;
        this.requests = requests;
        this.references = references;
        this.tokens = tokens;
        this.keys = keys;
        this.skippedLines = skippedLines;
        long blocks = 0;
        long input = 0;
        for (int request = 0; request < requests.size(); request++) {
            blocks += requests.blocks(request);
            input += requests.input(request);
        }
        this.blockReferences = blocks;
        this.inputTokens = input;
    }

    /** Returns the format that was found: {@code "mooncake"}, {@code "claude-code"} or {@code "ragpulse"}. */
    public String format() {
        return format;
    }

    /** Returns the number of requests. */
    public int requests() {
        return requests.size();
    }

    /** Returns the number of blocks of all requests together, a block that comes again counted again. */
    public long blockReferences() {
        return blockReferences;
    }

    /** Returns the number of different blocks. */
    public int distinctBlocks() {
        return Math.toIntExact(tokens.size());
    }

    /** Returns the input tokens of all requests together. */
    public long inputTokens() {
        return inputTokens;
    }

    /**
     * Returns a request's input length in tokens.
     *
     * @param request number of the request, from 0
     * @throws IndexOutOfBoundsException if there is no such request
     */
    public long inputLength(int request) {
        return requests.input(checked(request));
    }

    /**
     * Returns how many blocks a request has.
     *
     * @param request number of the request, from 0
     * @throws IndexOutOfBoundsException if there is no such request
     */
    public int blocks(int request) {
        return requests.blocks(checked(request));
    }

    /**
     * Returns a block of a request.
     *
     * @param request number of the request, from 0
     * @param index place of the block in the request, from 0
     * @return the block's number, below {@link #distinctBlocks()}; blocks are numbered in order of first use
     * @throws IndexOutOfBoundsException if there is no such request or it has no such block
     */
    public int block(int request, int index) {
        return references.get(requests.start(request) + Objects.checkIndex(index, blocks(request)));
    }

    /**
     * Copies a block's key: 32 bytes that depend on the format and the block's identity alone, so that a block has the
     * same key in every file, at every block size and under every limit.
     *
     * <p>It is a SHA-256 over a fixed domain text, the format's name and the identity: a Mooncake block's id; a Claude
     * Code session's id text and the block's id in it; the key of a RAGPulse block's predecessor and the kind and id of
     * its piece.
     *
     * @param block number of the block
     * @param out where the key goes
     * @param offset place of the key's first byte
     * @throws IndexOutOfBoundsException if there is no such block, or no room for 32 bytes
     */
    public void copyKey(int block, byte[] out, int offset) {
        keys.copy(block, out, offset);
    }

    /**
     * Returns how many input tokens of a request its first blocks hold, at most the input length: the last block of a
     * request is often partial.
     *
     * @param request number of the request, from 0
     * @param hitBlocks how many leading blocks, from 0 to all of them
     * @throws IndexOutOfBoundsException if there is no such request or it has fewer blocks
     */
    public long hitTokens(int request, int hitBlocks) {
        Objects.checkFromToIndex(0, hitBlocks, blocks(request));
        long first = requests.start(request);
        long sum = 0;
        for (long at = first; at < first + hitBlocks; at++) {
            sum += tokens.get(references.get(at));
        }
        return Math.min(sum, requests.input(request));
    }

    /** Returns how many bad lines were left out; 0 unless {@link TraceReader.Options#skipBad()}. */
    public long skippedLines() {
        return skippedLines;
    }

    private int checked(int request) {
        return Objects.checkIndex(request, requests.size());
    }
}
