package io.kvtier.trace;

/** Why a line is no line of a trace; whoever reads the file adds the file's name and the line's number. */
final class BadLineException extends Exception {
    private static final long serialVersionUID = 1L;

    BadLineException(String reason) {
        super(reason, null, false, false);
    }

    /** Returns the reason. */
    String reason() {
        return String.valueOf(getMessage());
    }
}
