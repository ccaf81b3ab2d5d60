package io.kvtier.bindings.nixl;

import java.util.List;
import java.util.Map;

/**
 * What a plugin says of itself.
 *
 * @param memoryTypes types that it can transfer
 * @param parameters its parameters with their defaults; older releases name few of them
 */
public record PluginDescription(List<MemoryType> memoryTypes, Map<String, String> parameters) {
    /** Copies the collections. */
    public PluginDescription {
        memoryTypes = List.copyOf(memoryTypes);
        parameters = Map.copyOf(parameters);
    }
}
