package io.kvtier.bindings.internal;

import io.kvtier.bindings.Availability;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Where a library is looked for, in this order: the system property {@code kvtier.NAME.path}, the environment variable
 * {@code KVTIER_NAME_PATH}, the folder of {@code scripts/fetch-natives}, the places where its own installers put it, the
 * system's loader. A path that was named explicitly and does not work ends the search: nothing else is taken instead.
 */
public final class LibrarySearch {
    private final String id;
    private final String title;
    private final List<String> fileNames;
    private final List<String> fetched;
    private final List<String> folders;
    private final String advice;

    /**
     * Describes a library.
     *
     * @param id short name, as in properties and in the generated classes
     * @param title name for people
     * @param fileNames names of its file, the best first
     * @param fetched its folders below the folder of fetch-natives, the best first
     * @param folders further folders, the best first; {@code *} stands for any part of a folder's name
     * @param advice what to do if it is found nowhere
     */
    public LibrarySearch(
            String id,
            String title,
            List<String> fileNames,
            List<String> fetched,
            List<String> folders,
            String advice) {
        this.id = id;
        this.title = title;
        this.fileNames = List.copyOf(fileNames);
        this.fetched = List.copyOf(fetched);
        this.folders = List.copyOf(folders);
        this.advice = advice;
    }

    /** What a search ended with. */
    public sealed interface Result {
        /** The library was opened. */
        record Found(SharedLibrary library) implements Result {}

        /** It was not; the availability says why. */
        record Missing(Availability.Absent availability) implements Result {}
    }

    /** Looks for the library and opens it. */
    public Result run() {
        if (!System.getProperty("os.name").equals("Linux")) {
            return missing("there is no " + title + " for " + System.getProperty("os.name"));
        }
        Optional<String> named = explicitPath();
        if (named.isPresent()) {
            return open(named.get(), reason -> missing(reason + "; it was named by " + explicitName()));
        }
        for (Path file : files()) {
            if (Files.exists(file)) {
                return open(file.toString(), this::missing);
            }
        }
        for (String fileName : fileNames) {
            if (SharedLibrary.open(fileName) instanceof SharedLibrary.Attempt.Opened(SharedLibrary library)) {
                return new Result.Found(library);
            }
        }
        return missing(fileNames.getFirst() + " was found neither by the system's loader nor in "
                + String.join(", ", searched()) + "; " + advice);
    }

    private Result open(String path, Function<String, Result> refused) {
        return switch (SharedLibrary.open(path)) {
            case SharedLibrary.Attempt.Opened(SharedLibrary library) -> new Result.Found(library);
            case SharedLibrary.Attempt.Refused(String reason) -> refused.apply(reason);
        };
    }

    private Result missing(String reason) {
        return new Result.Missing(new Availability.Absent(title, reason));
    }

    private Optional<String> explicitPath() {
        String property = System.getProperty(propertyName());
        return Optional.ofNullable(property == null ? System.getenv(variableName()) : property)
                .filter(path -> !path.isBlank());
    }

    private String explicitName() {
        return System.getProperty(propertyName()) == null ? variableName() : propertyName();
    }

    private String propertyName() {
        return "kvtier." + id + ".path";
    }

    private String variableName() {
        return "KVTIER_" + id.toUpperCase(Locale.ROOT) + "_PATH";
    }

    private List<Path> files() {
        List<Path> files = new ArrayList<>();
        Stream.concat(
                        fetched.stream().map(folder -> nativesFolder().resolve(folder)),
                        folders.stream().flatMap(pattern -> expand(pattern).stream()))
                .forEach(folder -> fileNames.forEach(name -> files.add(folder.resolve(name))));
        return files;
    }

    private List<String> searched() {
        return Stream.concat(Stream.of(nativesFolder().toString()), folders.stream())
                .toList();
    }

    /** Returns where fetch-natives puts the libraries unless it is told otherwise. */
    public static Path nativesFolder() {
        String folder = System.getenv("KVTIER_NATIVES_DIR");
        if (folder != null && !folder.isBlank()) {
            return Path.of(folder);
        }
        String cache = System.getenv("XDG_CACHE_HOME");
        Path base =
                cache == null || cache.isBlank() ? Path.of(System.getProperty("user.home"), ".cache") : Path.of(cache);
        return base.resolve("kvtier").resolve("natives");
    }

    /** Returns where a CUDA toolkit has its libraries. */
    public static List<String> toolkitFolders() {
        List<String> folders = new ArrayList<>();
        String home = System.getenv("CUDA_HOME");
        if (home != null && !home.isBlank()) {
            folders.add(home + "/lib64");
        }
        folders.add("/usr/local/cuda/lib64");
        folders.add("/usr/local/cuda*/lib64");
        return folders;
    }

    /** Expands one {@code *} in the last part of a folder's path; the highest version comes first. */
    private static List<Path> expand(String pattern) {
        int star = pattern.indexOf('*');
        if (star < 0) {
            return List.of(Path.of(pattern));
        }
        int slash = pattern.indexOf('/', star);
        String rest = slash < 0 ? "" : pattern.substring(slash + 1);
        Path glob = Path.of(slash < 0 ? pattern : pattern.substring(0, slash));
        List<Path> found = new ArrayList<>();
        try (DirectoryStream<Path> entries =
                Files.newDirectoryStream(glob.getParent(), glob.getFileName().toString())) {
            entries.forEach(entry -> found.add(entry.resolve(rest)));
        } catch (IOException | UncheckedIOException e) {
            return List.of();
        }
        found.sort((a, b) -> b.compareTo(a));
        return found;
    }
}
