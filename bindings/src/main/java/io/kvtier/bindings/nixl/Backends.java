package io.kvtier.bindings.nixl;

import static java.lang.foreign.ValueLayout.ADDRESS;

import io.kvtier.bindings.nixl.generated.NixlApi;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;

/** The plugins of an agent: which there are, and which are at work. */
final class Backends {
    private static final String POSIX = "POSIX";
    private static final String POOL = "ios_pool_size";
    /** The plugin clamps other sizes silently. */
    private static final int SMALLEST_POOL = 64;

    private static final int LARGEST_POOL = 65_536;

    private final AgentHandle agent;
    private final List<Backend> backends = new CopyOnWriteArrayList<>();
    private final ReentrantLock creation = new ReentrantLock();

    Backends(AgentHandle agent) {
        this.agent = agent;
    }

    List<String> installed() {
        return agent.call((handle, arena) -> {
            MemorySegment out = arena.allocate(ADDRESS);
            NixlStatus.check("get_available_plugins", NixlApi.nixl_capi_get_available_plugins(handle, out));
            return NativeLists.takeStrings(out.get(ADDRESS, 0), arena);
        });
    }

    PluginDescription describe(String plugin) {
        Names.require("plugin", plugin);
        return agent.call((handle, arena) -> {
            MemorySegment types = arena.allocate(ADDRESS);
            MemorySegment params = arena.allocate(ADDRESS);
            int status = NixlApi.nixl_capi_get_plugin_params(handle, arena.allocateFrom(plugin), types, params);
            NixlStatus.check("get_plugin_params", status, "plugin " + plugin);
            return take(types, params, arena);
        });
    }

    PluginDescription describe(Backend backend) {
        require(backend);
        return agent.call((handle, arena) -> {
            MemorySegment types = arena.allocate(ADDRESS);
            MemorySegment params = arena.allocate(ADDRESS);
            int status = NixlApi.nixl_capi_get_backend_params(handle, backend.handle(), types, params);
            NixlStatus.check("get_backend_params", status, "backend " + backend.plugin());
            return take(types, params, arena);
        });
    }

    private static PluginDescription take(MemorySegment types, MemorySegment params, Arena arena) {
        List<MemoryType> memoryTypes = NativeLists.takeMemoryTypes(types.get(ADDRESS, 0), arena);
        return new PluginDescription(memoryTypes, NativeLists.takeParams(params.get(ADDRESS, 0), arena));
    }

    Backend create(String plugin, Map<String, String> asked) {
        Names.require("plugin", plugin);
        asked.forEach((key, value) -> Names.require("value of parameter " + Names.require("parameter", key), value));
        creation.lock();
        try {
            PluginTraps.refuse(plugin, asked, working());
            int pool = plugin.equals(POSIX) ? poolSize(asked) : Integer.MAX_VALUE;
            Map<String, String> params = new HashMap<>(asked);
            if (plugin.equals(POSIX)) {
                // Said explicitly, so that it is what is counted here, whatever a release's default is.
                params.put(POOL, Integer.toString(pool));
            }
            Backend backend = new Backend(this, plugin, pool, create(plugin, params, installed()));
            backends.add(backend);
            return backend;
        } finally {
            creation.unlock();
        }
    }

    private MemorySegment create(String plugin, Map<String, String> params, List<String> installed) {
        return agent.call((handle, arena) -> {
            MemorySegment out = arena.allocate(ADDRESS);
            int status = NativeLists.withParams(
                    params,
                    arena,
                    container -> NixlApi.nixl_capi_create_backend(handle, arena.allocateFrom(plugin), container, out));
            NixlStatus.check(
                    "create_backend",
                    status,
                    "plugin " + plugin + " with parameters " + params.keySet() + "; installed: " + installed
                            + PluginTraps.advice(plugin, installed));
            return out.get(ADDRESS, 0);
        });
    }

    private static int poolSize(Map<String, String> params) {
        String text = params.getOrDefault(POOL, Integer.toString(LARGEST_POOL));
        int size = text.matches("[0-9]{1,9}") ? Integer.parseInt(text) : -1;
        if (size < SMALLEST_POOL || size > LARGEST_POOL) {
            throw new IllegalArgumentException(
                    POOL + " must be between " + SMALLEST_POOL + " and " + LARGEST_POOL + ", got '" + text + "'");
        }
        return size;
    }

    private List<String> working() {
        return backends.stream().map(Backend::plugin).toList();
    }

    /** Throws unless the backend is one of these. */
    void require(Backend backend) {
        if (backend.owner() != this) {
            throw new IllegalArgumentException(
                    "backend " + backend.plugin() + " belongs to another agent than " + agent.name());
        }
    }

    /** Returns the backend that a request will use; empty if NIXL does not tell. Made within a call. */
    Optional<Backend> of(MemorySegment handle, MemorySegment request, Arena arena) {
        MemorySegment out = arena.allocate(ADDRESS);
        if (NixlApi.nixl_capi_query_xfer_backend(handle, request, out) != NixlStatus.SUCCESS) {
            return Optional.empty();
        }
        MemorySegment wrapper = out.get(ADDRESS, 0);
        try {
            return backends.stream().filter(each -> each.isWrappedBy(wrapper)).findFirst();
        } finally {
            NixlApi.nixl_capi_destroy_backend(wrapper);
        }
    }

    void free() {
        backends.forEach(Backend::free);
        backends.clear();
    }
}
