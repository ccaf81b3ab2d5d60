package io.kvtier.trace;

import java.io.Closeable;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.exc.UnexpectedEndOfInputException;

/** The lines of a trace's file for those who read them; a bad line is an error or is counted, as the user wants. */
final class LineFeed implements Closeable {
    private static final int LONGEST_REASON = 200;

    private final TraceSource source;
    private final boolean skipBad;
    private final LineReader lines;
    private @Nullable TraceFormatException firstBad;
    private long skipped;

    LineFeed(TraceSource source, boolean skipBad) throws IOException {
        this.source = source;
        this.skipBad = skipBad;
        this.lines = new LineReader(source.open(), LineReader.LONGEST_LINE);
    }

    /** What is done with a line. */
    interface Handler {
        void handle(JsonLine json) throws BadLineException;
    }

    /** Moves to the next line; false at the end of the file. */
    boolean next() throws IOException {
        while (true) {
            try {
                return lines.next();
            } catch (BadLineException e) {
                reject(e.reason());
            }
        }
    }

    /** Has the current line handled. */
    void offer(Handler handler) throws TraceFormatException {
        try (JsonLine json = new JsonLine(lines.buffer(), lines.offset(), lines.length())) {
            handler.handle(json);
        } catch (BadLineException e) {
            reject(e.reason());
        } catch (JacksonException e) {
            reject(reason(e));
        }
    }

    /** Has every line handled of a file that must lie in the same folder, packed or not. */
    void offerAllOf(String fileName, Handler handler) throws IOException {
        TraceSource beside = source.sibling(fileName);
        if (beside == null) {
            throw failure("the side file " + fileName + " or " + fileName + ".gz is not in the same folder");
        }
        try (LineFeed feed = new LineFeed(beside, skipBad)) {
            while (feed.next()) {
                feed.offer(handler);
            }
            skipped += feed.skipped;
        }
    }

    long skipped() {
        return skipped;
    }

    /** Returns an error at the current line. */
    TraceFormatException failure(String reason) {
        return new TraceFormatException(source.name(), lines.number(), reason);
    }

    /** Returns the error of the first bad line that was skipped, or else that the file is empty. */
    TraceFormatException nothingFound() {
        return firstBad == null ? failure("the file is empty") : firstBad;
    }

    static String reason(JacksonException e) {
        String said = String.valueOf(e.getOriginalMessage());
        return isCutOff(e, said)
                ? "the line is cut off in the middle of its JSON"
                : "not JSON: " + Excerpt.of(said, LONGEST_REASON);
    }

    /** Between tokens the parser tells an early end by its message only. */
    private static boolean isCutOff(JacksonException e, String said) {
        return e instanceof UnexpectedEndOfInputException || said.contains("end-of-input");
    }

    private void reject(String reason) throws TraceFormatException {
        TraceFormatException error = failure(reason);
        if (!skipBad) {
            throw error;
        }
        firstBad = firstBad == null ? error : firstBad;
        skipped++;
    }

    @Override
    public void close() throws IOException {
        lines.close();
    }
}
