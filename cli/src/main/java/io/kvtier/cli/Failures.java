package io.kvtier.cli;

import io.kvtier.llama.ModelFileException;
import io.kvtier.tier.TierException;
import io.kvtier.trace.TraceFormatException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/** What a failed command prints, and its exit code. */
final class Failures {
    private Failures() {}

    static int handle(Exception e, CommandLine commandLine, CommandLine.@Nullable ParseResult parseResult) {
        commandLine.getErr().println("kvtier: " + message(e));
        int code = exitCode(e);
        if (code == ExitCodes.FAILED && !(e instanceof IOException) && !(e instanceof CancellationException)) {
            e.printStackTrace(commandLine.getErr());
        }
        commandLine.getErr().flush();
        return code;
    }

    /** A wrong option is named, and all of the help left to those who ask for it. */
    static int handleWrongUse(CommandLine.ParameterException e, String[] args) {
        CommandLine commandLine = e.getCommandLine();
        commandLine.getErr().println("kvtier: " + e.getMessage());
        CommandLine.UnmatchedArgumentException.printSuggestions(e, commandLine.getErr());
        commandLine.getErr().println("See " + commandLine.getCommandSpec().qualifiedName() + " --help.");
        commandLine.getErr().flush();
        return ExitCodes.WRONG_INPUT;
    }

    private static int exitCode(Exception e) {
        return switch (e) {
            case TierException tier ->
                switch (tier.reason()) {
                    case NO_FOLDER, NOT_WRITABLE, NEWER_FORMAT -> ExitCodes.WRONG_INPUT;
                    case FULL, IN_USE, SELF_TEST -> ExitCodes.FAILED;
                };
            case IllegalArgumentException _,
                    TraceFormatException _,
                    ModelFileException _,
                    NoSuchFileException _,
                    FileNotFoundException _,
                    AccessDeniedException _ -> ExitCodes.WRONG_INPUT;
            default -> ExitCodes.FAILED;
        };
    }

    private static String message(Exception e) {
        return switch (e) {
            case NoSuchFileException missing -> missing.getFile() + ": there is no such file";
            case AccessDeniedException denied -> denied.getFile() + ": permission denied";
            default -> e.getMessage() == null ? e.toString() : e.getMessage();
        };
    }
}
