package io.kvtier.bindings.nixl;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.kvtier.bindings.internal.LibcNative;
import io.kvtier.bindings.nixl.generated.NixlApi;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** What agents tell each other about how to be reached: as bytes, or by NIXL's own ways. */
final class MetadataExchange {
    private final AgentHandle agent;
    private final Backends backends;
    private final boolean listens;

    MetadataExchange(AgentHandle agent, Backends backends, boolean listens) {
        this.agent = agent;
        this.backends = backends;
        this.listens = listens;
    }

    byte[] whole() {
        return agent.call((handle, arena) -> {
            MemorySegment bytes = arena.allocate(ADDRESS);
            MemorySegment length = arena.allocate(JAVA_LONG);
            NixlStatus.check("get_local_md", NixlApi.nixl_capi_get_local_md(handle, bytes, length));
            return takeBytes(bytes, length);
        });
    }

    byte[] part(Descriptors descriptors, List<Backend> users) {
        users.forEach(backends::require);
        return agent.call((handle, arena) -> {
            MemorySegment bytes = arena.allocate(ADDRESS);
            MemorySegment length = arena.allocate(JAVA_LONG);
            int status = NativeLists.withRegistrationList(
                    descriptors,
                    arena,
                    dlist -> NativeLists.withOptions(
                            users,
                            TransferOptions.DEFAULT,
                            arena,
                            args -> NixlApi.nixl_capi_get_local_partial_md(handle, dlist, bytes, length, args)));
            NixlStatus.check("get_local_partial_md", status, descriptors + "; is all of it registered?");
            return takeBytes(bytes, length);
        });
    }

    String load(byte[] metadata) {
        return agent.call((handle, arena) -> {
            MemorySegment out = arena.allocate(ADDRESS);
            MemorySegment bytes = arena.allocateFrom(JAVA_BYTE, metadata);
            int status = NixlApi.nixl_capi_load_remote_md(handle, bytes, metadata.length, out);
            NixlStatus.check(
                    "load_remote_md",
                    status,
                    metadata.length + " bytes; are they of this release of NIXL and another agent, and was an earlier"
                            + " agent of its name invalidated?");
            String remote = NativeLists.text(out);
            LibcNative.free(out.get(ADDRESS, 0));
            return remote;
        });
    }

    boolean knows(String remoteAgent) {
        Names.require("remote agent", remoteAgent);
        return agent.call((handle, arena) -> {
            MemorySegment name = arena.allocateFrom(remoteAgent);
            int status = NixlApi.nixl_capi_check_remote_md(handle, name, MemorySegment.NULL);
            if (status != NixlStatus.NOT_FOUND) {
                NixlStatus.check("check_remote_md", status, "agent " + remoteAgent);
            }
            return status == NixlStatus.SUCCESS;
        });
    }

    /** Forgets an agent while no other call is made, unless something else speaks against it. */
    void invalidate(String remoteAgent, Runnable check) {
        Names.require("remote agent", remoteAgent);
        agent.runAlone((handle, arena) -> {
            check.run();
            NixlStatus.check(
                    "invalidate_remote_md",
                    NixlApi.nixl_capi_invalidate_remote_md(handle, arena.allocateFrom(remoteAgent)),
                    "agent " + remoteAgent);
        });
    }

    void connect(String remoteAgent) {
        Names.require("remote agent", remoteAgent);
        agent.run((handle, arena) -> NixlStatus.check(
                "agent_make_connection",
                NativeLists.withOptions(
                        List.of(),
                        TransferOptions.DEFAULT,
                        arena,
                        args -> NixlApi.nixl_capi_agent_make_connection(handle, arena.allocateFrom(remoteAgent), args)),
                "agent " + remoteAgent));
    }

    void send(MetadataServer server) {
        exchange("send_local_md", server, "", (handle, _, args) -> NixlApi.nixl_capi_send_local_md(handle, args));
    }

    void fetch(String remoteAgent, MetadataServer server) {
        Names.require("remote agent", remoteAgent);
        exchange(
                "fetch_remote_md",
                server,
                "agent " + remoteAgent + " from ",
                (handle, arena, args) ->
                        NixlApi.nixl_capi_fetch_remote_md(handle, arena.allocateFrom(remoteAgent), args));
    }

    void withdraw(MetadataServer server) {
        exchange(
                "invalidate_local_md",
                server,
                "",
                (handle, _, args) -> NixlApi.nixl_capi_invalidate_local_md(handle, args));
    }

    private interface Exchange {
        int with(MemorySegment handle, Arena arena, MemorySegment args);
    }

    private void exchange(String function, MetadataServer server, String subject, Exchange exchange) {
        if (server.address() != null && !listens) {
            throw new IllegalStateException(
                    "agent " + agent.name()
                            + " must listen itself to exchange metadata with other agents; create it with AgentConfig.listening");
        }
        agent.run((handle, arena) -> NixlStatus.check(
                function,
                NativeLists.withServer(server, arena, args -> exchange.with(handle, arena, args)),
                subject + server));
    }

    private static byte[] takeBytes(MemorySegment bytes, MemorySegment length) {
        MemorySegment start = bytes.get(ADDRESS, 0);
        try {
            return start.reinterpret(length.get(JAVA_LONG, 0)).toArray(JAVA_BYTE);
        } finally {
            LibcNative.free(start);
        }
    }
}
