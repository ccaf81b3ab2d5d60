package io.kvtier.bindings.internal;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Tries in a JVM of its own what may never return, crash or print. The child never outlives its deadline or its parent. */
public final class ChildProbe {
    private static final Duration END_WAIT = Duration.ofSeconds(5);

    private ChildProbe() {}

    /** How a child ended. */
    public sealed interface Result {
        /**
         * It did what it should.
         *
         * @param output what it printed, the last 64 KiB of it
         */
        record Succeeded(String output) implements Result {}

        /**
         * It ended with another exit code than 0; one above 128 stands for a signal.
         *
         * @param exitCode the exit code
         * @param lastLine the last line that it printed, empty if there was none
         */
        record Failed(int exitCode, String lastLine) implements Result {}

        /** It did not end in time and was killed. */
        record TimedOut(Duration deadline) implements Result {}

        /** There was no child. */
        record CouldNotStart(String reason) implements Result {}

        /** Returns what went wrong, as the rest of a sentence that names what was tried; empty if nothing did. */
        default Optional<String> problem() {
            return switch (this) {
                case Succeeded _ -> Optional.empty();
                case Failed(int code, String line) ->
                    Optional.of((code > 128 ? "crashed with signal " + (code - 128) : "failed")
                            + (line.isEmpty() ? "" : " (" + line + ")"));
                case TimedOut(Duration deadline) -> Optional.of("did not return within " + deadline.toSeconds() + " s");
                case CouldNotStart(String reason) ->
                    Optional.of("could not be tried in a process of its own: " + reason);
            };
        }
    }

    /**
     * Runs the main method of a class with this JVM's class path, module path and {@code kvtier.*} properties, in a fresh
     * working folder that is deleted afterwards, and waits until it ends or the time is over.
     *
     * @throws IllegalStateException if the thread is interrupted; the child is killed then
     */
    public static Result run(Class<?> main, Duration deadline, String... arguments) {
        Path folder;
        try {
            folder = Files.createTempDirectory("kvtier-probe");
        } catch (IOException e) {
            return new Result.CouldNotStart("no temporary folder: " + e.getMessage());
        }
        try {
            Process process = new ProcessBuilder(command(main, arguments))
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .start();
            return await(process, deadline);
        } catch (IOException e) {
            return new Result.CouldNotStart(String.valueOf(e.getMessage()));
        } finally {
            delete(folder);
        }
    }

    /**
     * Runs the work of a child and ends its JVM, without any exit handler of native libraries: with exit code 0, or with 1
     * and the exception's message as last line. Ends it too as soon as the parent is gone.
     */
    public static void inChild(Runnable work) {
        Thread.ofPlatform().daemon().start(ChildProbe::endWithParent);
        int code = 0;
        try {
            work.run();
        } catch (RuntimeException | LinkageError e) {
            System.err.println(String.valueOf(e.getMessage()).replace('\n', ' '));
            code = 1;
        }
        System.out.flush();
        Runtime.getRuntime().halt(code);
    }

    private static void endWithParent() {
        try {
            while (System.in.read() >= 0) {
                // only the end matters
            }
        } catch (IOException e) {
            // as good as the end
        }
        Runtime.getRuntime().halt(1);
    }

    private static Result await(Process process, Duration deadline) {
        OutputTail output = OutputTail.of(process);
        try {
            if (!process.waitFor(deadline.toNanos(), TimeUnit.NANOSECONDS)) {
                return new Result.TimedOut(deadline);
            }
            String text = output.text(END_WAIT);
            int code = process.exitValue();
            return code == 0 ? new Result.Succeeded(text) : new Result.Failed(code, lastLine(text));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while a child process was running", e);
        } finally {
            kill(process);
        }
    }

    private static void kill(Process process) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
        process.onExit()
                .completeOnTimeout(process, END_WAIT.toSeconds(), TimeUnit.SECONDS)
                .join();
    }

    private static String lastLine(String text) {
        return text.lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty())
                .reduce((_, last) -> last)
                .orElse("");
    }

    private static List<String> command(Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx64m"));
        // A crash is an answer here: no report, no core file.
        command.addAll(List.of("-XX:+SuppressFatalErrorMessage", "-XX:-CreateCoredumpOnCrash"));
        System.getProperties().stringPropertyNames().stream()
                .filter(name -> name.startsWith("kvtier."))
                .forEach(name -> command.add("-D" + name + "=" + absolute(name, System.getProperty(name))));
        command.addAll(start(main));
        command.addAll(List.of(arguments));
        return command;
    }

    private static List<String> start(Class<?> main) {
        List<String> start = new ArrayList<>();
        String modulePath = absolute(System.getProperty("jdk.module.path", ""));
        if (!modulePath.isEmpty()) {
            start.addAll(List.of("--module-path", modulePath));
        }
        start.addAll(List.of("--class-path", absolute(System.getProperty("java.class.path"))));
        Module module = main.getModule();
        if (module.isNamed()) {
            start.addAll(List.of("--enable-native-access=" + module.getName(), "--module"));
            start.add(module.getName() + "/" + main.getName());
        } else {
            start.addAll(List.of("--enable-native-access=ALL-UNNAMED", main.getName()));
        }
        return start;
    }

    /** Makes the entries of a path independent of the working folder. */
    private static String absolute(String path) {
        return Stream.of(path.split(File.pathSeparator, -1))
                .filter(entry -> !entry.isEmpty())
                .map(entry -> Path.of(entry).toAbsolutePath().toString())
                .collect(Collectors.joining(File.pathSeparator));
    }

    private static String absolute(String name, String value) {
        return name.endsWith(".path") && value.contains("/")
                ? Path.of(value).toAbsolutePath().toString()
                : value;
    }

    private static void delete(Path folder) {
        try (Stream<Path> tree = Files.walk(folder)) {
            tree.sorted(Comparator.reverseOrder()).forEach(file -> file.toFile().delete());
        } catch (IOException | UncheckedIOException e) {
            // What a killed child left in a temporary folder does no harm.
        }
    }
}
