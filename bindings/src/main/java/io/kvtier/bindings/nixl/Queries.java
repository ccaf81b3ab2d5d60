package io.kvtier.bindings.nixl;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.kvtier.bindings.nixl.generated.NixlApi;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/** Questions about files and objects. NIXL guards them by no lock of its own: here they go one after another. */
final class Queries {
    private final AgentHandle agent;
    private final Backends backends;
    private final ReentrantLock oneAtATime = new ReentrantLock();

    Queries(AgentHandle agent, Backends backends) {
        this.agent = agent;
        this.backends = backends;
    }

    List<Optional<Map<String, String>>> ask(Descriptors descriptors, Backend backend) {
        backends.require(backend);
        descriptors.requireFor(Descriptors.Use.QUERY);
        if (descriptors.type() != MemoryType.FILE && descriptors.type() != MemoryType.OBJECT) {
            throw new IllegalArgumentException("only files and objects can be asked for, got " + descriptors);
        }
        oneAtATime.lock();
        try {
            return agent.call((handle, arena) -> ask(handle, descriptors, backend, arena));
        } finally {
            oneAtATime.unlock();
        }
    }

    private static List<Optional<Map<String, String>>> ask(
            MemorySegment handle, Descriptors descriptors, Backend backend, Arena arena) {
        MemorySegment out = arena.allocate(ADDRESS);
        NixlStatus.check("create_query_resp_list", NixlApi.nixl_capi_create_query_resp_list(out));
        MemorySegment answers = out.get(ADDRESS, 0);
        try {
            int status = NativeLists.withRegistrationList(
                    descriptors,
                    arena,
                    dlist -> NativeLists.withOptions(
                            List.of(backend),
                            TransferOptions.DEFAULT,
                            arena,
                            args -> NixlApi.nixl_capi_query_mem(handle, dlist, answers, args)));
            NixlStatus.check("query_mem", status, descriptors + " of backend " + backend.plugin());
            return read(answers, arena);
        } finally {
            NixlApi.nixl_capi_destroy_query_resp_list(answers);
        }
    }

    private static List<Optional<Map<String, String>>> read(MemorySegment answers, Arena arena) {
        MemorySegment size = arena.allocate(JAVA_LONG);
        NixlStatus.check("query_resp_list_size", NixlApi.nixl_capi_query_resp_list_size(answers, size));
        MemorySegment present = arena.allocate(JAVA_BOOLEAN);
        MemorySegment params = arena.allocate(ADDRESS);
        List<Optional<Map<String, String>>> result = new ArrayList<>();
        for (long i = 0; i < size.get(JAVA_LONG, 0); i++) {
            NixlStatus.check(
                    "query_resp_list_has_value", NixlApi.nixl_capi_query_resp_list_has_value(answers, i, present));
            if (!present.get(JAVA_BOOLEAN, 0)) {
                result.add(Optional.empty());
                continue;
            }
            NixlStatus.check(
                    "query_resp_list_get_params", NixlApi.nixl_capi_query_resp_list_get_params(answers, i, params));
            result.add(Optional.of(NativeLists.takeParams(params.get(ADDRESS, 0), arena)));
        }
        return List.copyOf(result);
    }
}
