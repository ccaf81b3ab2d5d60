package io.kvtier.bindings.nixl;

import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.nixl.generated.NixlApi;
import java.lang.foreign.MemorySegment;
import java.util.Map;

/** One plugin at work in an agent, which owns it: the engine lives until the agent is closed. */
public final class Backend {
    /** What the POSIX plugin takes at once unless it is told otherwise. */
    private static final int DEFAULT_POOL = 65536;

    private static final String KIND = "nixl.backend";

    private final String plugin;
    private final int maxDescriptors;
    private final MemorySegment handle;

    Backend(String plugin, Map<String, String> params, MemorySegment handle) {
        this.plugin = plugin;
        this.maxDescriptors = Integer.parseInt(params.getOrDefault("ios_pool_size", Integer.toString(DEFAULT_POOL)));
        this.handle = handle;
        NativeHandles.opened(KIND);
    }

    /** Returns the plugin's name, e.g. {@code POSIX}. */
    public String plugin() {
        return plugin;
    }

    /** Returns the most descriptors that one transfer may have. */
    public int maxDescriptors() {
        return maxDescriptors;
    }

    MemorySegment handle() {
        return handle;
    }

    /** Frees the wrapper that the C interface made; the agent calls it when it is closed. */
    void free() {
        NixlApi.nixl_capi_destroy_backend(handle);
        NativeHandles.closed(KIND);
    }
}
