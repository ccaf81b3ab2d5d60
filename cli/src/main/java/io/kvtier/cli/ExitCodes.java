package io.kvtier.cli;

/** What the exit codes mean, for the process and for its help. */
final class ExitCodes {
    static final int FAILED = 1;
    static final int WRONG_INPUT = 2;
    static final int MISSING = 3;

    static final String HEADING = "Exit codes:%n";
    static final String DONE_TEXT = "0:done";
    static final String FAILED_TEXT = "1:failed for any other reason";
    static final String WRONG_INPUT_TEXT = "2:wrong use or wrong input";
    static final String MISSING_TEXT = "3:something that is required is missing";

    private ExitCodes() {}
}
