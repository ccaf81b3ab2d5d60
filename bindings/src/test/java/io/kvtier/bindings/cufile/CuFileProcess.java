package io.kvtier.bindings.cufile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kvtier.bindings.emulator.ChildProcess;
import java.io.File;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.Assertions;

/**
 * JVMs of their own for a class of this build. They find {@code /proc/modules} as told, by a library of ours that is loaded
 * before all others: cuFile looks there, and so does kvtier.
 */
final class CuFileProcess {
    private static final Path BASE = Path.of("").toAbsolutePath();
    private static final Path SOURCES = BASE.resolve("src/test/c/cufile");
    private static final Path HEADERS = BASE.resolveSibling("native-headers");

    private final Path library;
    private final Path folder;
    private final Map<String, String> environment = new HashMap<>();
    private final List<String> flags = new ArrayList<>();

    /**
     * Prepares one.
     *
     * @param library the cuFile that it uses
     * @param folder where it works, and finds its modules
     */
    CuFileProcess(Path library, Path folder) {
        this.library = library;
        this.folder = folder;
        environment.put("LD_PRELOAD", compile("modules.c", folder).toString());
        environment.put("KVTIER_MODULES", folder.resolve("modules").toString());
        environment.put("MALLOC_ARENA_MAX", "1");
    }

    /** Skips the test where there is no gcc for Linux. */
    static void requirePossible() {
        assumeTrue(
                System.getProperty("os.name").equals("Linux") && hasCompiler(),
                "the libraries of these tests are compiled by gcc on Linux, which is not here");
    }

    private static boolean hasCompiler() {
        try {
            return ChildProcess.run(List.of("gcc", "--version"), Map.of()).code() == 0;
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    CuFileProcess with(String variable, String value) {
        environment.put(variable, value);
        return this;
    }

    CuFileProcess withProperty(String name, String value) {
        flags.add("-D" + name + "=" + value);
        return this;
    }

    /** Runs a class to its end, and returns what it printed if all was well. */
    String run(Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>(List.of("env", "-C", folder.toString()));
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(
                "--enable-native-access=ALL-UNNAMED", "-XX:+UseSerialGC", "-Xms64m", "-Xmx64m", "-XX:+AlwaysPreTouch"));
        command.addAll(List.of("-Dkvtier.cufile.path=" + library, "-Djava.io.tmpdir=" + folder));
        command.addAll(flags);
        command.addAll(List.of("-cp", classPath(), main.getName()));
        command.addAll(List.of(arguments));
        ChildProcess process = ChildProcess.run(command, environment);
        assertThat(process.code()).as(process.output()).isZero();
        return process.output();
    }

    /** Compiles a library of ours into a folder. */
    static Path compile(String source, Path folder) {
        Path made = folder.resolve(source.replace(".c", ".so"));
        ChildProcess gcc = ChildProcess.run(
                List.of(
                        "gcc",
                        "-shared",
                        "-fPIC",
                        "-O1",
                        "-I" + HEADERS,
                        "-o",
                        made.toString(),
                        SOURCES.resolve(source).toString(),
                        "-ldl"),
                Map.of());
        assertThat(gcc.code()).as(gcc.output()).isZero();
        return made;
    }

    private static String classPath() {
        String assertions = Assertions.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .getPath();
        return String.join(
                File.pathSeparator,
                BASE.resolve("target/classes").toString(),
                BASE.resolve("target/test-classes").toString(),
                assertions);
    }
}
