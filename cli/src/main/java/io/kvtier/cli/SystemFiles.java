package io.kvtier.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Reads what the kernel tells in small text files; what is not there is empty. */
final class SystemFiles {
    private SystemFiles() {}

    static List<String> lines(String file) {
        try {
            return Files.readAllLines(Path.of(file));
        } catch (IOException e) {
            return List.of();
        }
    }

    /** Returns what stands behind a key and a colon, or many spaces. */
    static Optional<String> value(String file, String key) {
        return lines(file).stream()
                .filter(line -> line.startsWith(key))
                .map(line -> line.substring(key.length())
                        .replaceFirst("^[\\s:]+", "")
                        .strip())
                .findFirst();
    }

    /** Returns a text up to its first white space. */
    static String firstWord(String text) {
        return text.replaceFirst("\\s.*", "");
    }
}
