package io.kvtier.jmh;

import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Something known that we are compared with.
 *
 * @param name as it stands in the table
 * @param methods the benchmarks whose times add up to the anchor's
 * @param missing says why it cannot run here, or null
 */
record Anchor(String name, List<String> methods, Supplier<@Nullable String> missing) {
    static Anchor of(String name, String... methods) {
        return new Anchor(name, List.of(methods), () -> null);
    }
}
