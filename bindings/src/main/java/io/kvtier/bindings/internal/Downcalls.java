package io.kvtier.bindings.internal;

/** The one place that turns what a method handle may throw into what callers see. */
public final class Downcalls {
    private Downcalls() {}

    /** Returns the exception to throw for a downcall that ended in a Throwable; errors and unchecked ones pass. */
    public static RuntimeException unexpected(String function, Throwable e) {
        if (e instanceof Error error) {
            throw error;
        }
        if (e instanceof RuntimeException unchecked) {
            throw unchecked;
        }
        return new IllegalStateException("call of " + function + " failed", e);
    }
}
