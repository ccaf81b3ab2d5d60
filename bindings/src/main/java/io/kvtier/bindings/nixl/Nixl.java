package io.kvtier.bindings.nixl;

import io.kvtier.bindings.Availability;
import io.kvtier.bindings.internal.LibcNative;
import io.kvtier.bindings.internal.LibrarySearch;
import io.kvtier.bindings.internal.NativeLibraries;
import io.kvtier.bindings.internal.SharedLibrary;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Whether NIXL can be used here. The library is looked for and loaded at the first question, once. */
public final class Nixl {
    private static final List<String> REQUIRED = List.of(
            "nixl_capi_create_configured_agent",
            "nixl_capi_destroy_agent",
            "nixl_capi_create_backend",
            "nixl_capi_register_mem",
            "nixl_capi_deregister_mem",
            "nixl_capi_create_xfer_req",
            "nixl_capi_post_xfer_req",
            "nixl_capi_get_xfer_status",
            "nixl_capi_release_xfer_req",
            "nixl_capi_prep_xfer_dlist",
            "nixl_capi_make_xfer_req",
            "nixl_capi_query_xfer_backend",
            "nixl_capi_get_local_partial_md",
            "nixl_capi_query_mem",
            "nixl_capi_get_notifs");
    private static final String SINCE_1_5 = "nixl_capi_opt_args_set_custom_param";
    private static final Pattern WHEEL = Pattern.compile("nixl_cu1[23]-(.+)\\.dist-info");

    private Nixl() {}

    /** Returns where NIXL was found and in which version, or why it cannot be used. */
    public static Availability availability() {
        return Holder.AVAILABILITY;
    }

    static void require() {
        if (availability() instanceof Availability.Absent absent) {
            throw new IllegalStateException(absent.toString());
        }
    }

    /** Returns the functions without which a library is not taken. */
    static List<String> required() {
        return REQUIRED;
    }

    /** Returns whether the POSIX plugin's default queue reports I/O that failed or came back short: since 1.5. */
    static boolean reportsFailedIo() {
        return !NativeLibraries.address("nixl", SINCE_1_5).equals(MemorySegment.NULL);
    }

    private static Availability load() {
        prepareEnvironment();
        LibrarySearch search = new LibrarySearch(
                "nixl",
                "NIXL",
                List.of("libnixl_capi.so", "libnixl_capi.so.0"),
                List.of("cuda12/.nixl_cu12.mesonpy.libs", "cuda13/.nixl_cu13.mesonpy.libs"),
                List.of(
                        "/opt/nvidia/nvda_nixl/lib/x86_64-linux-gnu",
                        "/opt/nvidia/nvda_nixl/lib/aarch64-linux-gnu",
                        "/opt/nvidia/nvda_nixl/lib",
                        "/opt/nvidia/nvda_nixl/lib64"),
                "run scripts/fetch-natives, or name it by the property kvtier.nixl.path");
        return switch (search.run()) {
            case LibrarySearch.Result.Missing(Availability.Absent absent) -> absent;
            case LibrarySearch.Result.Found(SharedLibrary library) -> use(library);
        };
    }

    private static Availability use(SharedLibrary library) {
        List<String> missing = library.missing(REQUIRED);
        if (!missing.isEmpty()) {
            return Availability.absent(
                    "NIXL",
                    library.name() + " lacks " + String.join(", ", missing) + "; kvtier needs NIXL 1.4 or newer");
        }
        NativeLibraries.loaded("nixl", library);
        return Availability.present("NIXL", library.name(), version(library));
    }

    /**
     * UCX must not take the JVM's signals, and with its InfiniBand modules from the wheels a process crashes at exit. Both
     * are read when the library is loaded.
     */
    private static void prepareEnvironment() {
        LibcNative.setEnvironmentIfAbsent("UCX_ERROR_SIGNALS", "");
        LibcNative.setEnvironmentIfAbsent("UCX_HANDLE_ERRORS", "none");
        LibcNative.setEnvironmentIfAbsent("UCX_MODULES", "^ib");
        LibcNative.setEnvironmentIfAbsent("NIXL_LOG_LEVEL", "ERROR");
    }

    /** NIXL's C interface has no version; a wheel's folder names it, and newer functions tell the rest apart. */
    private static String version(SharedLibrary library) {
        Path folder = Path.of(library.name()).getParent();
        if (folder != null && folder.getParent() != null && Files.isDirectory(folder.getParent())) {
            try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder.getParent(), "*.dist-info")) {
                for (Path entry : entries) {
                    Matcher matcher = WHEEL.matcher(entry.getFileName().toString());
                    if (matcher.matches()) {
                        return matcher.group(1);
                    }
                }
            } catch (IOException e) {
                return "unknown (" + e.getMessage() + ")";
            }
        }
        return library.find(SINCE_1_5).isPresent() ? "1.5 or newer" : "1.4";
    }

    private static final class Holder {
        static final Availability AVAILABILITY = load();
    }
}
