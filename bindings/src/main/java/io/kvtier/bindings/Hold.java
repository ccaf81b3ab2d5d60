package io.kvtier.bindings;

/**
 * Keeps a native resource open while native code elsewhere uses it, e.g. while it is registered with another library. As long
 * as there is one, closing the resource is refused. Whoever took it closes it, from any thread; closing twice does nothing.
 */
@FunctionalInterface
public interface Hold extends AutoCloseable {
    @Override
    void close();
}
