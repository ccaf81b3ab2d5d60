package io.kvtier.cli;

import io.kvtier.bindings.Availability;
import io.kvtier.bindings.nixl.Agent;
import io.kvtier.bindings.nixl.AgentConfig;
import io.kvtier.bindings.nixl.Nixl;
import io.kvtier.bindings.nixl.NixlException;
import io.kvtier.bindings.nixl.PluginProbe;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import tools.jackson.core.JsonGenerator;

/** NIXL and which of its plugins can really be put to work. */
final class NixlExamination implements Examination {
    /** Plugins that neither crash nor hang at their creation. */
    private static final Set<String> KNOWN_GROUND = Set.of("POSIX", "UCX");

    private static final Duration DEADLINE = Duration.ofSeconds(30);
    private static final String ADVICE = "NIXL_LOG_LEVEL=INFO tells which library is missing";

    private record Plugin(String name, boolean loads, String reason) {}

    private final Availability availability = Nixl.availability();
    private final List<Plugin> plugins = availability.isAvailable() ? tryPlugins() : List.of();

    @Override
    public String name() {
        return "nixl";
    }

    @Override
    public boolean available() {
        return availability.isAvailable();
    }

    @Override
    public List<Finding> findings() {
        List<Finding> findings = new ArrayList<>();
        findings.add(Availabilities.finding("NIXL", availability));
        for (Plugin plugin : plugins) {
            String topic = "NIXL " + plugin.name();
            findings.add(
                    plugin.loads()
                            ? Finding.good(topic, "loads")
                            : Finding.missing(topic, "not usable", plugin.reason()));
        }
        return findings;
    }

    @Override
    public void write(JsonGenerator json) {
        json.writeStartObject();
        json.writeBooleanProperty("available", availability.isAvailable());
        switch (availability) {
            case Availability.Present(String _, String location, String version) -> {
                json.writeStringProperty("version", version);
                json.writeStringProperty("location", location);
            }
            case Availability.Absent(String _, String reason) -> json.writeStringProperty("reason", reason);
        }
        json.writeName("plugins").writeStartArray();
        plugins.forEach(plugin -> {
            json.writeStartObject();
            json.writeStringProperty("name", plugin.name());
            json.writeBooleanProperty("loads", plugin.loads());
            json.writeStringProperty("reason", plugin.reason());
            json.writeEndObject();
        });
        json.writeEndArray();
        json.writeEndObject();
    }

    /** Only putting a plugin to work shows that it can; each gets an agent of its own. */
    private static List<Plugin> tryPlugins() {
        List<String> names;
        try (Agent agent = Agent.create("doctor", AgentConfig.DEFAULT)) {
            names = agent.plugins();
        }
        return names.stream().sorted().map(NixlExamination::tryPlugin).toList();
    }

    private static Plugin tryPlugin(String name) {
        return KNOWN_GROUND.contains(name) ? tryHere(name) : tryApart(name);
    }

    private static Plugin tryHere(String name) {
        try (Agent agent = Agent.create("doctor-" + name, AgentConfig.DEFAULT)) {
            agent.createBackend(name, Map.of());
            return new Plugin(name, true, "");
        } catch (NixlException e) {
            return new Plugin(name, false, "NIXL refuses it (" + e.codeName() + "); " + ADVICE);
        } catch (IllegalArgumentException | IllegalStateException e) {
            return new Plugin(name, false, String.valueOf(e.getMessage()));
        }
    }

    private static Plugin tryApart(String name) {
        Map<String, String> params = name.equals("OBJ") ? Map.of("bucket", "doctor") : Map.of();
        return switch (PluginProbe.run(name, params, DEADLINE)) {
            case Availability.Present _ -> new Plugin(name, true, "");
            case Availability.Absent absent -> new Plugin(name, false, absent.reason() + "; " + ADVICE);
        };
    }
}
