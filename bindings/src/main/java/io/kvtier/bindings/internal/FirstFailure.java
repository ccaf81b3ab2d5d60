package io.kvtier.bindings.internal;

import org.jspecify.annotations.Nullable;

/** Ends many things although some fail: the first failure is thrown at the end, the others are told with it. */
public final class FirstFailure {
    private @Nullable RuntimeException first;

    /** Runs a step; what it throws is kept. */
    public void in(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException e) {
            add(e);
        }
    }

    /** Keeps a failure. */
    public void add(RuntimeException failure) {
        if (first == null) {
            first = failure;
        } else {
            first.addSuppressed(failure);
        }
    }

    /** Throws the first failure, if there was one. */
    public void rethrow() {
        if (first != null) {
            throw first;
        }
    }
}
