package io.kvtier.bindings.cufile;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What kvtier wants to know of cuFile's configuration file, which is JSON with comments. Its names occur once, so they are
 * looked for without regard to the objects that they stand in.
 *
 * @param path where it is, whether it exists or not
 * @param text its text without comments; empty if it cannot be read
 */
record ConfigFile(Path path, String text) {
    private static final Pattern COMMENT = Pattern.compile("(?m)^\\s*//.*$|//[^\"\\n]*$");

    /** Returns the file that cuFile reads when its driver is opened. */
    static ConfigFile inUse() {
        String named = System.getenv("CUFILE_ENV_PATH_JSON");
        return read(Path.of(named == null || named.isBlank() ? "/etc/cufile.json" : named));
    }

    static ConfigFile read(Path path) {
        try {
            // A byte that is no UTF-8 must not hide the rest.
            String text = new String(Files.readAllBytes(path), StandardCharsets.ISO_8859_1);
            return new ConfigFile(path, COMMENT.matcher(text).replaceAll(""));
        } catch (IOException e) {
            return new ConfigFile(path, "");
        }
    }

    Optional<Boolean> flag(String name) {
        Matcher matcher = value(name, "(true|false)");
        return matcher.find() ? Optional.of(matcher.group(1).equals("true")) : Optional.empty();
    }

    /** Returns whether the file says where the log goes. */
    boolean namesLogFolder() {
        return value("dir", "\"").find();
    }

    private Matcher value(String name, String pattern) {
        return Pattern.compile("\"" + name + "\"\\s*:\\s*" + pattern).matcher(text);
    }
}
