package io.kvtier.bindings.probe;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What gcc makes of a probe: the facts it prints, and the prototypes that its headers declare. */
final class Compiler {
    private static final Pattern PROTOTYPE = Pattern.compile("\\*/ extern (.*?)(\\w+) \\((.*)\\);");

    private Compiler() {}

    /** Against whose headers a probe is compiled: our own, or a vendor's of some major version. */
    record Source(boolean vendor, int major, List<Path> includeFolders) {
        static Source own(int major) {
            return new Source(false, major, List.of());
        }

        static Source vendor(int major, List<Path> includeFolders) {
            return new Source(true, major, includeFolders);
        }
    }

    static boolean isPresent() {
        return System.getProperty("os.name").equals("Linux")
                && Command.run(List.of("gcc", "--version")).ok();
    }

    /** Compiles and runs a probe. */
    static SortedMap<String, Long> facts(Api api, Source source, Path scratch) {
        Path program = scratch.resolve(api.header() + source.hashCode());
        List<String> command = gcc(api, source);
        command.addAll(List.of("-Wall", "-Werror", "-o", program.toString()));
        Command.output(command);
        SortedMap<String, Long> facts = new TreeMap<>();
        Command.output(List.of(program.toString())).lines().forEach(line -> {
            int space = line.lastIndexOf(' ');
            facts.put(line.substring(0, space), Long.valueOf(line.substring(space + 1)));
        });
        return facts;
    }

    /** Returns the declared functions: name to result and parameters, with the C library's private type names replaced. */
    static SortedMap<String, String> prototypes(Api api, Source source, Path scratch) {
        Path list = scratch.resolve(api.header() + source.hashCode() + ".aux");
        List<String> command = gcc(api, source);
        command.addAll(List.of("-aux-info", list.toString(), "-c", "-o", "/dev/null"));
        Command.output(command);
        SortedMap<String, String> prototypes = new TreeMap<>();
        try {
            for (String line : Files.readAllLines(list)) {
                Matcher matcher = PROTOTYPE.matcher(line);
                if (matcher.find()) {
                    prototypes.put(matcher.group(2), plain(matcher.group(1).strip() + " (" + matcher.group(3) + ")"));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return prototypes;
    }

    private static List<String> gcc(Api api, Source source) {
        List<String> command = new ArrayList<>(List.of("gcc", "-std=gnu11"));
        command.add("-DPROBE_MAJOR=" + source.major());
        if (source.vendor()) {
            command.add("-DPROBE_VENDOR");
        }
        for (Path folder : source.includeFolders()) {
            command.addAll(List.of("-isystem", folder.toString()));
        }
        command.add(api.probe().toString());
        return command;
    }

    private static String plain(String prototype) {
        return prototype.replace("__off_t", "off_t").replace("__rlimit_resource_t", "int");
    }
}
