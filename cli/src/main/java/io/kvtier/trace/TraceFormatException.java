package io.kvtier.trace;

import java.io.IOException;

/** A trace file that cannot be read as it is: its message names the file, the line and what is wrong there. */
public final class TraceFormatException extends IOException {
    private static final long serialVersionUID = 1L;

    private final String file;
    private final long line;

    TraceFormatException(String file, long line, String reason) {
        super(file + ":" + line + ": " + reason);
        this.file = file;
        this.line = line;
    }

    /** Returns the file's path as the reader opened it; a trace that comes with kvtier starts with "bundled:". */
    public String file() {
        return file;
    }

    /** Returns the line's number, counted from 1. */
    public long line() {
        return line;
    }
}
