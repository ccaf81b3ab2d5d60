package io.kvtier.trace;

import java.io.BufferedInputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;
import org.jspecify.annotations.Nullable;

/**
 * The lines of a plain or gzipped file, one at a time, without copying them. Blank lines are left out but counted. A
 * byte order mark before the first line is skipped.
 */
final class LineReader implements Closeable {
    /** Several times the largest session seen; what is longer is no trace, and must not fill the heap. */
    static final int LONGEST_LINE = 1 << 28;

    private static final int CHUNK = 1 << 16;
    private static final byte[] BYTE_ORDER_MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

    private final BufferedInputStream stored;
    private final int longest;
    private @Nullable InputStream unpacked;
    private byte[] window = new byte[CHUNK];
    private int start;
    private int end;
    private int next;
    private int filled;
    private long line;
    private boolean ended;

    LineReader(InputStream stored, int longest) {
        this.stored = new BufferedInputStream(stored, CHUNK);
        this.longest = longest;
    }

    /** Moves to the next line that is not blank; false at the end of the file. */
    boolean next() throws IOException, BadLineException {
        while (advance()) {
            if (!isBlank()) {
                return true;
            }
        }
        return false;
    }

    byte[] buffer() {
        return window;
    }

    int offset() {
        return start;
    }

    int length() {
        return end - start;
    }

    /** Returns the current line's number, counted from 1. */
    long number() {
        return Math.max(line, 1);
    }

    private boolean advance() throws IOException, BadLineException {
        line++;
        start = next;
        int newline = findNewline();
        end = newline < 0 ? filled : newline;
        next = newline < 0 ? filled : newline + 1;
        if (length() > longest) {
            throw tooLong();
        }
        skipByteOrderMark();
        return newline >= 0 || end > start;
    }

    private int findNewline() throws IOException, BadLineException {
        int scanned = 0;
        while (true) {
            for (int at = start + scanned; at < filled; at++) {
                if (window[at] == '\n') {
                    return at;
                }
            }
            scanned = filled - start;
            if (scanned > longest) {
                leaveLongLine();
            }
            if (!fill()) {
                return -1;
            }
        }
    }

    private void leaveLongLine() throws IOException, BadLineException {
        do {
            start = filled;
        } while (fill() && indexInWindow() < 0);
        int newline = indexInWindow();
        next = newline < 0 ? filled : newline + 1;
        throw tooLong();
    }

    private BadLineException tooLong() {
        return new BadLineException("the line is longer than " + longest + " bytes");
    }

    private int indexInWindow() {
        for (int at = start; at < filled; at++) {
            if (window[at] == '\n') {
                return at;
            }
        }
        return -1;
    }

    /** Reads more behind the current line, which may move to the front of the window. */
    private boolean fill() throws IOException, BadLineException {
        if (ended) {
            return false;
        }
        makeRoom();
        int count = read();
        ended = count < 0;
        filled += Math.max(count, 0);
        return !ended;
    }

    private void makeRoom() {
        if (start > 0) {
            System.arraycopy(window, start, window, 0, filled - start);
            filled -= start;
            start = 0;
        }
        if (filled == window.length) {
            window = Arrays.copyOf(window, 2 * window.length);
        }
    }

    private int read() throws IOException, BadLineException {
        try {
            InputStream in = unpacked == null ? unpack() : unpacked;
            unpacked = in;
            return in.read(window, filled, window.length - filled);
        } catch (EOFException e) {
            throw broken("the gzip stream is cut off in the middle");
        } catch (ZipException e) {
            throw broken("the gzip stream is damaged: " + e.getMessage());
        }
    }

    private BadLineException broken(String reason) {
        ended = true;
        next = filled;
        return new BadLineException(reason);
    }

    private InputStream unpack() throws IOException {
        stored.mark(2);
        boolean gzip = stored.read() == 0x1F && stored.read() == 0x8B;
        stored.reset();
        return gzip ? new GZIPInputStream(stored, CHUNK) : stored;
    }

    private void skipByteOrderMark() {
        int after = start + BYTE_ORDER_MARK.length;
        if (line == 1
                && after <= end
                && Arrays.equals(window, start, after, BYTE_ORDER_MARK, 0, BYTE_ORDER_MARK.length)) {
            start = after;
        }
    }

    private boolean isBlank() {
        for (int at = start; at < end; at++) {
            byte c = window[at];
            if (c != ' ' && c != '\t' && c != '\r') {
                return false;
            }
        }
        return true;
    }

    @Override
    public void close() throws IOException {
        try (stored) {
            if (unpacked != null) {
                unpacked.close();
            }
        }
    }
}
