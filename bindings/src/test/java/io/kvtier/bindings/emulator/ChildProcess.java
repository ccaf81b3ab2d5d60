package io.kvtier.bindings.emulator;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A program run to its end, within bounds. */
public record ChildProcess(int code, String output) {
    private static final long LIMIT_SECONDS = 300;

    /** Runs a program; standard output and error become one text. */
    public static ChildProcess run(List<String> command, Map<String, String> environment) {
        try {
            Path output = Files.createTempFile("kvtier-child", ".log");
            try {
                return run(command, environment, output);
            } finally {
                Files.delete(output);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(command.getFirst() + " was interrupted", e);
        }
    }

    private static ChildProcess run(List<String> command, Map<String, String> environment, Path output)
            throws IOException, InterruptedException {
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
        builder.environment().putAll(environment);
        Process process = builder.start();
        if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError(command + " took more than " + LIMIT_SECONDS + " s");
        }
        return new ChildProcess(process.exitValue(), Files.readString(output));
    }
}
