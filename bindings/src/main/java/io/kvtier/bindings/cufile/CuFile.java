package io.kvtier.bindings.cufile;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.kvtier.bindings.Availability;
import io.kvtier.bindings.cufile.generated.CuFileApi;
import io.kvtier.bindings.internal.LibrarySearch;
import io.kvtier.bindings.internal.NativeLibraries;
import io.kvtier.bindings.internal.SharedLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Whether cuFile can be used here. The library is looked for and loaded at the first question, once. */
public final class CuFile {
    private CuFile() {}

    /** Returns where the library was found and in which version, or why it cannot be used. */
    public static Availability availability() {
        return Holder.AVAILABILITY;
    }

    /**
     * Returns which way I/O would take here, by a look at the machine and the configuration only; no driver is opened. Once
     * it is open, {@link Driver#ioPath} knows better.
     */
    public static IoPath ioPath() {
        return Obstacles.look();
    }

    /**
     * Checks that cuFile's driver can be opened, by cuFile itself or by a plugin that uses it. First looks whether the
     * library is there and the kernel has loadable modules; without them the open would never return. Then, once per JVM,
     * opens the driver in a process of its own, with a deadline of 15 seconds; the system property {@code
     * kvtier.cufile.probeSeconds} changes it, and 0 leaves out the look at the kernel and the trial.
     *
     * @throws IllegalStateException if it cannot be opened; says why
     */
    public static void requireDriverCanOpen() {
        DriverGuard.require();
    }

    /** Throws unless the library is there. */
    static void require() {
        if (availability() instanceof Availability.Absent absent) {
            throw new IllegalStateException(absent.toString());
        }
    }

    /** Throws unless the library has a function that older releases lack. */
    static void requireFunction(String function, String since) {
        require();
        if (!hasFunction(function)) {
            throw new UnsupportedOperationException(
                    availability() + " has no " + function + "; cuFile " + since + " has it");
        }
    }

    static boolean hasFunction(String function) {
        return !NativeLibraries.address("cufile", function).equals(MemorySegment.NULL);
    }

    private static Availability load() {
        LibrarySearch search = new LibrarySearch(
                "cufile",
                "cuFile",
                List.of("libcufile.so.0"),
                List.of("cuda12/nvidia/cufile/lib", "cuda13/nvidia/cu13/lib"),
                LibrarySearch.toolkitFolders(),
                "run scripts/fetch-natives, install the CUDA toolkit, or name it by the property kvtier.cufile.path");
        return switch (search.run()) {
            case LibrarySearch.Result.Missing(Availability.Absent absent) -> absent;
            case LibrarySearch.Result.Found(SharedLibrary library) -> use(library);
        };
    }

    private static Availability use(SharedLibrary library) {
        List<String> missing = library.missing(List.of("cuFileDriverOpen", "cuFileHandleRegister", "cuFileRead"));
        if (!missing.isEmpty()) {
            return Availability.absent("cuFile", library.name() + " lacks " + String.join(", ", missing));
        }
        NativeLibraries.loaded("cufile", library);
        return Availability.present("cuFile", library.name(), version(library));
    }

    private static String version(SharedLibrary library) {
        if (library.find("cuFileGetVersion").isEmpty()) {
            return "older than 1.7";
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment number = arena.allocate(JAVA_INT);
            CuFileApi.cuFileGetVersion(arena, number);
            int value = number.get(JAVA_INT, 0);
            return value / 1000 + "." + value % 1000 / 10;
        }
    }

    private static final class Holder {
        static final Availability AVAILABILITY = load();
    }
}
