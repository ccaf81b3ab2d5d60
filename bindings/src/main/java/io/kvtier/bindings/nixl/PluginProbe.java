package io.kvtier.bindings.nixl;

import io.kvtier.bindings.Availability;
import io.kvtier.bindings.internal.ChildProbe;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

/**
 * Tries in a process of its own whether a plugin can be put to work: only its creation shows that, and some of them crash,
 * print or never return where something is missing.
 */
public final class PluginProbe {
    private PluginProbe() {}

    /**
     * Creates an agent with one backend in a process of its own.
     *
     * @param plugin name of the plugin
     * @param params its parameters
     * @param deadline how long that may take
     * @return whether it worked; if not, why
     */
    public static Availability run(String plugin, Map<String, String> params, Duration deadline) {
        String[] arguments = new String[1 + 2 * params.size()];
        arguments[0] = plugin;
        int count = 1;
        for (Map.Entry<String, String> param : params.entrySet()) {
            arguments[count++] = param.getKey();
            arguments[count++] = param.getValue();
        }
        return ChildProbe.run(PluginProbe.class, deadline, arguments)
                .problem()
                .map(problem -> Availability.absent(plugin, "its creation " + problem))
                .orElseGet(() -> Availability.present(plugin, "NIXL", "as installed"));
    }

    /** Runs the probe: the plugin's name, then its parameters' names and values. */
    public static void main(String[] arguments) {
        Map<String, String> params = new TreeMap<>();
        for (int i = 1; i + 1 < arguments.length; i += 2) {
            params.put(arguments[i], arguments[i + 1]);
        }
        ChildProbe.inChild(() -> {
            try (Agent agent = Agent.create("probe", AgentConfig.DEFAULT)) {
                agent.createBackend(arguments[0], params);
            }
        });
    }
}
