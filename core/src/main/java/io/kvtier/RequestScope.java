package io.kvtier;

import java.util.Map;
import java.util.Objects;

/**
 * The parts of an object's identity that may differ from request to request. What one scope stored, no other finds.
 *
 * @param salt the tenant; empty where there is one only
 * @param tags further parts of the identity by name; their order does not matter
 */
public record RequestScope(String salt, Map<String, String> tags) {
    /** No salt and no tags. */
    public static final RequestScope DEFAULT = new RequestScope("", Map.of());

    /** Copies the tags. */
    public RequestScope {
        Objects.requireNonNull(salt, "salt");
        tags = Map.copyOf(tags);
    }

    /** Returns the scope of a tenant, without tags. */
    public static RequestScope ofSalt(String salt) {
        return new RequestScope(salt, Map.of());
    }
}
