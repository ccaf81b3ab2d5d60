package io.kvtier.bindings.nixl;

import io.kvtier.bindings.nixl.generated.NixlApi;
import io.kvtier.bindings.nixl.generated.nixl_capi_agent_config_s;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Settings of an agent.
 *
 * @param progressThread whether a thread of NIXL drives transfers; without it the target of a transfer must ask for
 *     notifications or nothing moves
 * @param telemetry whether times and bytes of transfers are kept
 * @param listenPort the TCP port on which other agents may fetch and send metadata, on all interfaces and without any
 *     check of who asks; 0 to open none
 */
public record AgentConfig(boolean progressThread, boolean telemetry, int listenPort) {
    /** With a progress thread, without telemetry, without a port. */
    public static final AgentConfig DEFAULT = new AgentConfig(true, false, 0);

    private static final int MAX_PORT = 65_535;
    private static final long LISTEN_DELAY_MICROS = 1_000;

    /** Checks the port. */
    public AgentConfig {
        if (listenPort < 0 || listenPort > MAX_PORT) {
            throw new IllegalArgumentException("a port is between 1 and " + MAX_PORT + ", got " + listenPort);
        }
    }

    /** Returns these settings with times and bytes of transfers kept, see {@link Transfer#telemetry}. */
    public AgentConfig withTelemetry() {
        return new AgentConfig(progressThread, true, listenPort);
    }

    /** Returns these settings without NIXL's thread. */
    public AgentConfig withoutProgressThread() {
        return new AgentConfig(false, telemetry, listenPort);
    }

    /**
     * Returns these settings with a port for metadata, see {@link Agent#fetchMetadata}. Whoever can reach the port gets
     * the keys to all registered memory: use it in trusted networks only.
     *
     * @throws IllegalArgumentException if it is no port
     */
    public AgentConfig listening(int port) {
        if (port == 0) {
            throw new IllegalArgumentException("NIXL cannot choose a port itself; name one");
        }
        return new AgentConfig(progressThread, telemetry, port);
    }

    MemorySegment toNative(Arena arena) {
        MemorySegment config = arena.allocate(nixl_capi_agent_config_s.layout());
        nixl_capi_agent_config_s.enable_prog_thread(config, progressThread);
        nixl_capi_agent_config_s.enable_listen_thread(config, listenPort > 0);
        nixl_capi_agent_config_s.listen_port(config, listenPort);
        // Several threads may use an agent.
        nixl_capi_agent_config_s.thread_sync(config, NixlApi.NIXL_CAPI_THREAD_SYNC_RW());
        nixl_capi_agent_config_s.lthr_delay_us(config, LISTEN_DELAY_MICROS);
        nixl_capi_agent_config_s.capture_telemetry(config, telemetry);
        return config;
    }
}
