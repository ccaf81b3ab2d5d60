package io.kvtier.bindings.cufile;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.kvtier.bindings.Availability;
import io.kvtier.bindings.cuda.Cuda;
import io.kvtier.bindings.cufile.generated.CuFileApi;
import io.kvtier.bindings.internal.LibrarySearch;
import io.kvtier.bindings.internal.NativeLibraries;
import io.kvtier.bindings.internal.SharedLibrary;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Whether cuFile can be used here. The library is looked for and loaded at the first question, once. */
public final class CuFile {
    private CuFile() {}

    /** Returns where the library was found and in which version, or why it cannot be used. */
    public static Availability availability() {
        return Holder.AVAILABILITY;
    }

    /**
     * Returns why I/O would not go directly between device and disk but through the host (cuFile's compatibility mode), or
     * not at all; empty if nothing speaks against the direct way. Only looks; opens no driver.
     */
    public static List<String> obstacles() {
        List<String> obstacles = new ArrayList<>();
        if (availability() instanceof Availability.Absent absent) {
            obstacles.add(absent.reason());
            return obstacles;
        }
        if (Cuda.devices() instanceof Availability.Absent absent) {
            obstacles.add(absent.reason());
        }
        if (!Files.isReadable(Path.of("/proc/modules"))) {
            obstacles.add(
                    "the kernel has no loadable modules (/proc/modules is not readable), so opening cuFile's driver"
                            + " would never return; kvtier does not open it");
        } else if (!contains("/proc/modules", "nvidia_fs")) {
            obstacles.add("the kernel module nvidia-fs is not loaded");
        }
        if (!Files.isDirectory(Path.of("/run/udev"))) {
            obstacles.add("/run/udev is missing; in a container, mount it");
        }
        if (contains("/proc/version", "microsoft")) {
            obstacles.add("WSL has no GPUDirect Storage");
        }
        return obstacles;
    }

    private static boolean contains(String file, String text) {
        try {
            return Files.readString(Path.of(file)).contains(text);
        } catch (IOException e) {
            return false;
        }
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
