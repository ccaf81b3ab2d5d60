package io.kvtier.bindings.emulator;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Compiles the emulator, and programs against it, with gcc. */
final class EmulatorBuild {
    private static final Path BASE = Path.of(System.getProperty("basedir", "."));
    private static final Path SOURCES = BASE.resolve("src/test/c/emulator");
    static final Path HEADERS = BASE.resolve("../native-headers").normalize();
    private static final List<String> FLAGS = List.of(
            "-std=c11",
            "-D_GNU_SOURCE",
            "-O1",
            "-g",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wno-format-truncation",
            "-pthread");

    private final int major;
    private final Path folder;

    EmulatorBuild(int major) {
        this.major = major;
        this.folder = BASE.toAbsolutePath().normalize().resolve("target/emulator/" + major);
    }

    static boolean isPossible() {
        if (!System.getProperty("os.name").equals("Linux")) {
            return false;
        }
        try {
            return ChildProcess.run(List.of("gcc", "--version"), Map.of()).code() == 0;
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    Path runtime() {
        return folder.resolve("libcudart.so." + major);
    }

    Path cuFile() {
        return folder.resolve("libcufile.so.0");
    }

    /** Compiles both libraries unless they are newer than all their sources. */
    void libraries() {
        if (isCurrent(runtime()) && isCurrent(cuFile())) {
            return;
        }
        library(runtime(), "cuda", List.of());
        library(cuFile(), "cufile", List.of("-Wl,-rpath,$ORIGIN", runtime().toString()));
    }

    /** Compiles a runtime that lacks a function, as an older release does. */
    Path runtimeWithout(String function) {
        Path older = folder.resolve("without-" + function).resolve(runtime().getFileName());
        if (!isCurrent(older)) {
            Path script = folder.resolve("without-" + function + ".map");
            try {
                Files.createDirectories(older.getParent());
                Files.writeString(script, "{ local: " + function + "; };\n");
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            library(older, "cuda", List.of("-Wl,--version-script=" + script));
        }
        return older;
    }

    /** Compiles a program that is linked to both libraries, and returns it. */
    Path program(String name) {
        libraries();
        Path program = folder.resolve(name);
        List<String> command = gcc();
        command.addAll(List.of(
                "-o", program.toString(), SOURCES.resolve("test/" + name + ".c").toString()));
        command.addAll(List.of(runtime().toString(), cuFile().toString(), "-Wl,-rpath," + folder));
        run(command);
        return program;
    }

    private void library(Path library, String part, List<String> link) {
        Path made = library.resolveSibling(library.getFileName() + ".new");
        List<String> command = gcc();
        command.addAll(List.of("-fPIC", "-shared", "-fvisibility=hidden", "-Wl,-soname," + library.getFileName()));
        command.addAll(List.of("-o", made.toString()));
        files(SOURCES.resolve(part)).stream()
                .map(Path::toString)
                .filter(file -> file.endsWith(".c"))
                .sorted()
                .forEach(command::add);
        command.addAll(link);
        try {
            Files.createDirectories(folder);
            run(command);
            Files.move(made, library, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private List<String> gcc() {
        List<String> command = new ArrayList<>(List.of("gcc"));
        command.addAll(FLAGS);
        command.add("-DEMULATOR_MAJOR=" + major);
        Stream.of(SOURCES, SOURCES.resolve("cufile"), HEADERS).forEach(folder -> command.add("-I" + folder));
        return command;
    }

    private static boolean isCurrent(Path library) {
        try {
            if (!Files.exists(library)) {
                return false;
            }
            FileTime made = Files.getLastModifiedTime(library);
            for (Path source : Stream.concat(files(SOURCES).stream(), files(HEADERS).stream())
                    .toList()) {
                if (Files.getLastModifiedTime(source).compareTo(made) >= 0) {
                    return false;
                }
            }
            return true;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<Path> files(Path folder) {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(Files::isRegularFile).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void run(List<String> command) {
        ChildProcess gcc = ChildProcess.run(command, Map.of());
        if (gcc.code() != 0) {
            throw new AssertionError(String.join(" ", command) + "\n" + gcc.output());
        }
    }
}
