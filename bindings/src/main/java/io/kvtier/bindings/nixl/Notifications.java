package io.kvtier.bindings.nixl;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.kvtier.bindings.nixl.generated.NixlApi;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** Messages between agents. */
final class Notifications {
    private final AgentHandle agent;

    Notifications(AgentHandle agent) {
        this.agent = agent;
    }

    void send(String remoteAgent, byte[] message) {
        Names.require("remote agent", remoteAgent);
        agent.run((handle, arena) -> NixlStatus.check(
                "gen_notif",
                NativeLists.withOptions(List.of(), TransferOptions.DEFAULT, arena, args -> {
                    MemorySegment bytes = arena.allocateFrom(JAVA_BYTE, message);
                    return NixlApi.nixl_capi_gen_notif(
                            handle, arena.allocateFrom(remoteAgent), bytes, message.length, args);
                }),
                message.length + " bytes to agent " + remoteAgent));
    }

    List<Notification> take() {
        return agent.call((handle, arena) -> {
            MemorySegment out = arena.allocate(ADDRESS);
            NixlStatus.check("create_notif_map", NixlApi.nixl_capi_create_notif_map(out));
            MemorySegment map = out.get(ADDRESS, 0);
            try {
                int status = NativeLists.withOptions(
                        List.of(),
                        TransferOptions.DEFAULT,
                        arena,
                        args -> NixlApi.nixl_capi_get_notifs(handle, map, args));
                NixlStatus.check("get_notifs", status, "can a backend of agent " + agent.name() + " notify?");
                return read(map, arena);
            } finally {
                NixlApi.nixl_capi_destroy_notif_map(map);
            }
        });
    }

    private static List<Notification> read(MemorySegment map, Arena arena) {
        MemorySegment number = arena.allocate(JAVA_LONG);
        NixlStatus.check("notif_map_size", NixlApi.nixl_capi_notif_map_size(map, number));
        List<Notification> result = new ArrayList<>();
        MemorySegment agent = arena.allocate(ADDRESS);
        for (long i = 0, agents = number.get(JAVA_LONG, 0); i < agents; i++) {
            NixlStatus.check("notif_map_get_agent_at", NixlApi.nixl_capi_notif_map_get_agent_at(map, i, agent));
            readMessages(map, agent.get(ADDRESS, 0), NativeLists.text(agent), arena, result);
        }
        return List.copyOf(result);
    }

    private static void readMessages(
            MemorySegment map, MemorySegment agent, String from, Arena arena, List<Notification> result) {
        MemorySegment number = arena.allocate(JAVA_LONG);
        NixlStatus.check("notif_map_get_notifs_size", NixlApi.nixl_capi_notif_map_get_notifs_size(map, agent, number));
        MemorySegment bytes = arena.allocate(ADDRESS);
        MemorySegment length = arena.allocate(JAVA_LONG);
        for (long i = 0, messages = number.get(JAVA_LONG, 0); i < messages; i++) {
            NixlStatus.check(
                    "notif_map_get_notif", NixlApi.nixl_capi_notif_map_get_notif(map, agent, i, bytes, length));
            byte[] message =
                    bytes.get(ADDRESS, 0).reinterpret(length.get(JAVA_LONG, 0)).toArray(JAVA_BYTE);
            result.add(new Notification(from, message));
        }
    }
}
