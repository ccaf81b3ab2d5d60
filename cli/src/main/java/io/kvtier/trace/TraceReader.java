package io.kvtier.trace;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Reads a trace, plain or gzipped; both that and the format are found by the content, not by the name.
 *
 * <ul>
 *   <li>Mooncake (FAST 2025): a request on each line, in order, with "hash_ids" for its blocks. Its ids are valid in
 *       the whole file. See <a href="https://github.com/kvcache-ai/Mooncake">kvcache-ai/Mooncake</a>,
 *       FAST25-release/traces.
 *   <li>Claude Code sessions (WEKA): a session on each line. All sessions start at time 0, and their requests and those
 *       of their sub-agents are merged by time, then by line and place in it. Ids are valid in their session. See <a
 *       href="https://github.com/callanjfox/kv-cache-tester">callanjfox/kv-cache-tester</a>, traces.
 *   <li>RAGPulse: a request on each line, sorted by time here; each of its pieces becomes a block of the piece's length
 *       that stands for all pieces before it too. Five side files in the same folder hold the lengths. See <a
 *       href="https://github.com/flashserve/RAGPulse">flashserve/RAGPulse</a>, data.
 * </ul>
 *
 * <p>A byte order mark and blank lines are skipped, and fields that are not needed are ignored.
 */
public final class TraceReader {
    private static final String BUNDLED = "conversation_trace.jsonl.gz";
    private static final String RAGPULSE_TRACE = "0_trace.jsonl";

    private TraceReader() {}

    /**
     * How to read.
     *
     * @param blockTokens tokens of a full block in a Mooncake file, which does not say so itself; the other formats do
     * @param limit at most so many requests, the first ones after sorting; {@link Long#MAX_VALUE} for all
     * @param skipBad whether bad lines are left out and counted, rather than being an error
     */
    public record Options(int blockTokens, long limit, boolean skipBad) {
        private static final int MOONCAKE_BLOCK = 512;

        /**
         * Checks the numbers.
         *
         * @throws IllegalArgumentException if a block has less than one token or the limit is negative
         */
        public Options {
            if (blockTokens < 1) {
                throw new IllegalArgumentException("a block has at least 1 token, not " + blockTokens);
            }
            if (limit < 0) {
                throw new IllegalArgumentException("the limit is at least 0 requests, not " + limit);
            }
        }

        /** Returns blocks of 512 tokens as in Mooncake's own files, no limit, and errors for bad lines. */
        public static Options defaults() {
            return new Options(MOONCAKE_BLOCK, Long.MAX_VALUE, false);
        }

        /** Returns the same options with blocks of so many tokens. */
        public Options withBlockTokens(int tokens) {
            return new Options(tokens, limit, skipBad);
        }

        /** Returns the same options with at most so many requests. */
        public Options withLimit(long requests) {
            return new Options(blockTokens, requests, skipBad);
        }

        /** Returns the same options with bad lines left out, or with errors for them. */
        public Options withSkipBad(boolean skip) {
            return new Options(blockTokens, limit, skip);
        }
    }

    /**
     * Reads a trace. A Mooncake file is read no further than the limit demands.
     *
     * @param fileOrFolder the trace's file, or the folder of a RAGPulse trace
     * @throws TraceFormatException if the content is no trace: a line that is not JSON or is cut off, a field that is
     *     missing or of the wrong type, a number out of range, an unknown format, an empty file, a broken gzip stream,
     *     a missing side file. With {@link Options#skipBad()} only if there is no line of a known format at all, or no
     *     side file
     * @throws IOException if the file cannot be read
     */
    public static Trace read(Path fileOrFolder, Options options) throws IOException {
        return read(source(fileOrFolder), options);
    }

    /**
     * Reads the trace that comes with kvtier: Mooncake's conversation trace, 12,031 requests with blocks of 512 tokens.
     *
     * @throws IOException if this build of kvtier lacks the trace
     */
    public static Trace bundled(Options options) throws IOException {
        return read(new TraceSource.OfResource(BUNDLED), options);
    }

    private static TraceSource source(Path fileOrFolder) throws TraceFormatException {
        if (!Files.isDirectory(fileOrFolder)) {
            return new TraceSource.OfFile(fileOrFolder);
        }
        TraceSource found = TraceSource.OfFile.find(fileOrFolder.resolve(RAGPULSE_TRACE));
        if (found == null) {
            throw new TraceFormatException(
                    fileOrFolder.toString(),
                    1,
                    "the folder holds neither %s nor %s.gz, so it is not RAGPulse's; of other formats, give the file"
                            .formatted(RAGPULSE_TRACE, RAGPULSE_TRACE));
        }
        return found;
    }

    private static Trace read(TraceSource source, Options options) throws IOException {
        try (LineFeed feed = new LineFeed(source, options.skipBad())) {
            TraceFormat format = format(feed, options);
            TraceBuilder builder = new TraceBuilder();
            long wanted = format.sortedByTime() ? Long.MAX_VALUE : options.limit();
            boolean more = true;
            while (more && builder.requests() < wanted) {
                feed.offer(json -> format.addLine(json, builder));
                more = builder.requests() < wanted && feed.next();
            }
            return builder.build(format, options.limit(), feed.skipped());
        }
    }

    private static TraceFormat format(LineFeed feed, Options options) throws IOException {
        return switch (FormatDetector.find(feed)) {
            case MOONCAKE -> new MooncakeFormat(options.blockTokens());
            case CLAUDE_CODE -> new ClaudeCodeFormat();
            case RAGPULSE -> new RagPulseFormat(PieceLengths.read(feed));
        };
    }
}
