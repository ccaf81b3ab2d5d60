package io.kvtier.bindings.probe;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs a program to its end, within bounds. */
final class Command {
    private static final long LIMIT_SECONDS = 300;

    private Command() {}

    record Result(int code, String output) {
        boolean ok() {
            return code == 0;
        }

        String lastLine() {
            List<String> lines = output.lines().filter(line -> !line.isBlank()).toList();
            return lines.isEmpty() ? "exit code " + code : lines.getLast();
        }
    }

    /** Returns exit code and output; 127 if the program could not be started. */
    static Result run(List<String> command) {
        try {
            Path output = Files.createTempFile("kvtier-command", ".log");
            try {
                Process process = new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile())
                        .start();
                if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                    process.destroyForcibly();
                    return new Result(124, command.getFirst() + " took more than " + LIMIT_SECONDS + " s");
                }
                return new Result(process.exitValue(), Files.readString(output));
            } finally {
                Files.delete(output);
            }
        } catch (IOException e) {
            return new Result(127, String.valueOf(e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Result(130, command.getFirst() + " was interrupted");
        }
    }

    /** Returns the output of a program that must succeed. */
    static String output(List<String> command) {
        Result result = run(command);
        if (!result.ok()) {
            throw new UncheckedIOException(
                    new IOException(command + " ends with " + result.code() + ":\n" + result.output()));
        }
        return result.output();
    }
}
