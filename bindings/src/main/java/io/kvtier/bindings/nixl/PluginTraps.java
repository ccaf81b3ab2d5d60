package io.kvtier.bindings.nixl;

import io.kvtier.bindings.Availability;
import io.kvtier.bindings.cuda.Cuda;
import io.kvtier.bindings.cufile.CuFile;
import java.util.List;
import java.util.Map;

/** Plugins and parameters that would fail silently, spin for ever or harm later transfers; what to do about the rest. */
final class PluginTraps {
    private static final Map<String, String> ADVICE = Map.of(
            "POSIX",
                    "io_uring may be forbidden by the container's seccomp profile; the default queue needs no parameter",
            "UCX",
                    "the variable UCX_TLS, if set, must allow tcp (e.g. tcp,self), or the parameter"
                            + " ucx_error_handling_mode be none; UCX_NET_DEVICES must name devices that exist",
            "OBJ",
                    "it needs the parameter bucket or the variable AWS_DEFAULT_BUCKET; the one of the wheels for CUDA 13"
                            + " also needs libcuobjclient.so.1, that for CUDA 12 does not",
            "AZURE_BLOB", "it needs account_url or connection_string, and container_name",
            "GDS", "it needs libcufile and libcudart of the CUDA release that NIXL was built for",
            "GDS_MT", "it needs libcufile and libcudart of the CUDA release that NIXL was built for",
            "LIBFABRIC", "it needs libfabric.so.1 and libhwloc.so.15",
            "GPUNETIO", "it needs an NVIDIA driver and DOCA");

    private PluginTraps() {}

    /** Throws if a plugin must not be put to work this way. */
    static void refuse(String plugin, Map<String, String> params, List<String> working) {
        if (working.contains(plugin)) {
            throw new IllegalStateException(
                    "backend " + plugin + " is already at work in this agent; an agent has one of each plugin");
        }
        switch (plugin) {
            case "POSIX" -> refuseQueue(params);
            case "GDS" -> refuseGds(plugin, working.contains("GDS_MT"));
            case "GDS_MT" -> refuseGds(plugin, working.contains("GDS"));
            default -> {}
        }
    }

    private static void refuseQueue(Map<String, String> params) {
        if (isSet(params, "use_posix_aio")) {
            throw new IllegalArgumentException(
                    "use_posix_aio is refused: after one failed transfer all later ones of the"
                            + " agent fail; leave it out, or use_uring");
        }
        if (!Nixl.reportsFailedIo() && !isSet(params, "use_uring")) {
            throw new IllegalArgumentException("this release of NIXL calls failed I/O of its default queue done; set"
                    + " use_uring=true (there, an agent whose I/O failed must be replaced), or use NIXL 1.5.1");
        }
    }

    private static boolean isSet(Map<String, String> params, String name) {
        return !params.getOrDefault(name, "false").equals("false");
    }

    private static void refuseGds(String plugin, boolean otherAtWork) {
        if (otherAtWork) {
            throw new IllegalStateException("GDS and GDS_MT cannot both be at work in one agent");
        }
        // The plugin finds both libraries by their names because they are loaded.
        requireLibrary(plugin, Cuda.runtime());
        CuFile.requireDriverCanOpen();
    }

    private static void requireLibrary(String plugin, Availability availability) {
        if (availability instanceof Availability.Absent absent) {
            throw new IllegalStateException(plugin + " cannot be put to work: " + absent);
        }
    }

    /** Returns what to try after NIXL refused a plugin, with a separator in front. */
    static String advice(String plugin, List<String> installed) {
        if (!installed.contains(plugin)) {
            return "";
        }
        String own = ADVICE.get(plugin);
        return "; a library that it needs may be missing (NIXL_LOG_LEVEL=INFO tells)" + (own == null ? "" : "; " + own);
    }
}
