package io.kvtier.trace;

import java.util.Arrays;
import java.util.stream.IntStream;

/** Collects requests and numbers their blocks. */
final class TraceBuilder {
    private static final int UNUSED = -1;

    private final PairTable blocks = new PairTable();
    private final IntPages references = new IntPages();
    private final RequestTable requests = new RequestTable(1024);
    private long start;

    int requests() {
        return requests.size();
    }

    /**
     * Adds a block to the request that is being built.
     *
     * @param scope where the id is valid, in the format's own numbering
     * @param id the block's id there
     * @param tokens how many tokens the block holds; the first use of a block decides
     * @return a number that stands for the block until the trace is built
     */
    int block(int scope, long id, int tokens) throws BadLineException {
        int number = blocks.intern(scope, id, tokens);
        references.add(number);
        return number;
    }

    /** Ends the request whose blocks were added since the last one. */
    void request(double time, int inputLength) throws BadLineException {
        requests.add(time, start, Math.toIntExact(references.size() - start), inputLength);
        start = references.size();
    }

    /** Builds the trace of the first so many requests and their blocks only; the builder is spent. */
    Trace build(TraceFormat format, long limit, long skippedLines) {
        int kept = (int) Math.min(limit, requests.size());
        int[] order = format.sortedByTime()
                ? requests.byTime()
                : IntStream.range(0, kept).toArray();
        RequestTable ordered = requests.ordered(order, kept);
        Numbering numbering = new Numbering(format);
        numbering.numberAll(ordered);
        return new Trace(format.name(), ordered, references, numbering.tokens(), numbering.keys, skippedLines);
    }

    /** The keys of blocks that were numbered before. */
    interface Parents {
        /** Returns the key of a block by the number that {@link TraceBuilder#block} returned. */
        byte[] key(int block);
    }

    /** Gives out the final numbers, in order of first use, and the keys. */
    private final class Numbering implements Parents {
        private final TraceFormat format;
        private final KeyHasher hasher;
        private final int[] numbers = new int[blocks.size()];
        private final BlockKeys keys = new BlockKeys();
        private final IntPages tokens = new IntPages();

        Numbering(TraceFormat format) {
            this.format = format;
            this.hasher = new KeyHasher(format.name());
            Arrays.fill(numbers, UNUSED);
        }

        void numberAll(RequestTable ordered) {
            for (int request = 0; request < ordered.size(); request++) {
                numberBlocks(ordered.start(request), ordered.blocks(request));
            }
        }

        private void numberBlocks(long first, int count) {
            for (long at = first; at < first + count; at++) {
                references.set(at, number(references.get(at)));
            }
        }

        private int number(int block) {
            if (numbers[block] == UNUSED) {
                numbers[block] = Math.toIntExact(tokens.size());
                tokens.add(blocks.value(block));
                keys.add(newKey(block));
            }
            return numbers[block];
        }

        private byte[] newKey(int block) {
            hasher.begin();
            format.nameBlock(blocks.scope(block), blocks.id(block), this, hasher);
            return hasher.finish();
        }

        @Override
        public byte[] key(int block) {
            byte[] key = new byte[BlockKeys.BYTES];
            keys.copy(numbers[block], key, 0);
            return key;
        }

        IntPages tokens() {
            return tokens;
        }
    }
}
