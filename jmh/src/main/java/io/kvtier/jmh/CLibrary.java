package io.kvtier.jmh;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An anchor of our own in C: gcc compiles it when it is first needed; it stays loaded. */
final class CLibrary {
    private final @Nullable SymbolLookup symbols;
    private final @Nullable String missing;

    private CLibrary(@Nullable SymbolLookup symbols, @Nullable String missing) {
        this.symbols = symbols;
        this.missing = missing;
    }

    /** Returns a library that is not there. */
    static CLibrary missing(String reason) {
        return new CLibrary(null, reason);
    }

    /**
     * Compiles and loads a library.
     *
     * @param sources resources beside this class, the file to compile first, then its headers
     * @param arguments further arguments of gcc
     */
    static CLibrary compile(List<String> sources, String... arguments) {
        try {
            Path folder = Files.createTempDirectory("kvtier-bench");
            try {
                return compile(folder, sources, List.of(arguments));
            } finally {
                delete(folder);
            }
        } catch (IOException e) {
            return missing("its C could not be compiled: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return missing("gcc was interrupted");
        }
    }

    private static CLibrary compile(Path folder, List<String> sources, List<String> arguments)
            throws IOException, InterruptedException {
        for (String source : sources) {
            copyTo(folder, source);
        }
        List<String> command = new ArrayList<>(List.of(
                "gcc", "-std=gnu11", "-O2", "-Wall", "-fPIC", "-shared", "-o", "anchor.so", sources.getFirst()));
        command.addAll(arguments);
        Process gcc;
        try {
            gcc = new ProcessBuilder(command)
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .start();
        } catch (IOException _) {
            return missing("gcc, which compiles the C for it, is not on PATH");
        }
        String output = new String(gcc.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return gcc.waitFor() == 0
                ? new CLibrary(SymbolLookup.libraryLookup(folder.resolve("anchor.so"), Arena.global()), null)
                : missing("gcc refuses " + sources.getFirst() + ": " + output.strip());
    }

    private static void copyTo(Path folder, String source) throws IOException {
        try (InputStream text = CLibrary.class.getResourceAsStream(source)) {
            if (text == null) {
                throw new IOException(source + " is not packaged");
            }
            Files.copy(text, folder.resolve(source));
        }
    }

    // What is loaded stays mapped.
    private static void delete(Path folder) throws IOException {
        try (var files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(folder);
    }

    /** Returns why it cannot be used, or null. */
    @Nullable
    String missing() {
        return missing;
    }

    /** Returns its functions. */
    SymbolLookup symbols() {
        if (symbols == null) {
            throw new UnsatisfiedLinkError(missing);
        }
        return symbols;
    }
}
