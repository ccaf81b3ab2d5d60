package io.kvtier.bindings.nixl;

import io.kvtier.bindings.nixl.generated.nixl_capi_agent_config_s;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Settings of an agent.
 *
 * @param progressThread whether a thread of NIXL drives transfers; without it the target of a transfer must ask for
 *     notifications or nothing moves
 * @param telemetry whether times and bytes of transfers are kept
 */
public record AgentConfig(boolean progressThread, boolean telemetry) {
    /** With a progress thread, without telemetry. */
    public static final AgentConfig DEFAULT = new AgentConfig(true, false);

    // Several threads may use an agent: NIXL's shared-exclusive lock.
    private static final int THREAD_SYNC_RW = 2;

    MemorySegment toNative(Arena arena) {
        MemorySegment config = arena.allocate(nixl_capi_agent_config_s.layout());
        nixl_capi_agent_config_s.enable_prog_thread(config, progressThread);
        nixl_capi_agent_config_s.thread_sync(config, THREAD_SYNC_RW);
        nixl_capi_agent_config_s.capture_telemetry(config, telemetry);
        return config;
    }
}
