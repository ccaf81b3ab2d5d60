package io.kvtier.bindings;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Another JVM with the classes of this build; tests talk to it line by line. */
public final class ChildJvm implements AutoCloseable {
    private static final String CLASSES = Path.of("target", "classes") + ":" + Path.of("target", "test-classes");
    private static final long LIMIT_SECONDS = 300;

    private final Process process;
    private final PrintStream input;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    private ChildJvm(Process process) {
        this.process = process;
        input = new PrintStream(process.getOutputStream(), true, StandardCharsets.UTF_8);
        Thread.ofPlatform().daemon().start(this::read);
    }

    /** Starts the main method of a class with flags of the JVM. */
    public static ChildJvm start(Class<?> main, List<String> flags, String... arguments) throws IOException {
        return start(main, flags, Map.of(), arguments);
    }

    /** The same with variables of the environment. */
    public static ChildJvm start(
            Class<?> main, List<String> flags, Map<String, String> environment, String... arguments)
            throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(
                "--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC", "-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch"));
        command.addAll(flags);
        command.addAll(List.of("-cp", CLASSES, main.getName()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        // Fewer heaps of malloc make memory that grows tell more.
        builder.environment().putAll(Map.of("MALLOC_ARENA_MAX", "1"));
        builder.environment().putAll(environment);
        return new ChildJvm(builder.start());
    }

    private void read() {
        try (BufferedReader reader =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                lines.add(line);
            }
        } catch (IOException e) {
            lines.add("reading failed: " + e);
        }
    }

    /** Returns its number. */
    public long pid() {
        return process.pid();
    }

    /** Writes a line to its standard input. */
    public void say(String line) {
        input.println(line);
    }

    /** Returns what follows the prefix in the next line that has it. */
    public String hear(String prefix) {
        List<String> others = new ArrayList<>();
        try {
            String line = lines.poll(LIMIT_SECONDS, TimeUnit.SECONDS);
            while (line != null && !line.startsWith(prefix)) {
                others.add(line);
                assertThat(line).as("said %s", others).doesNotContain("Exception");
                line = lines.poll(LIMIT_SECONDS, TimeUnit.SECONDS);
            }
            assertThat(line)
                    .as("no line '%s' within bounds, but %s", prefix, others)
                    .isNotNull();
            return line.substring(prefix.length());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Sends a signal, e.g. {@code KILL}. */
    public void signal(String name) {
        try {
            Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(pid())).start();
            assertThat(kill.waitFor()).isZero();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Waits until it ends, and returns how. */
    public int exitCode() throws InterruptedException {
        assertThat(process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
        return process.exitValue();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
