package io.kvtier.bindings.nixl;

import org.jspecify.annotations.Nullable;

/** Ends many things although some fail: the first failure is thrown at the end, the others are told with it. */
final class FirstFailure {
    private @Nullable RuntimeException first;

    void in(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException e) {
            if (first == null) {
                first = e;
            } else {
                first.addSuppressed(e);
            }
        }
    }

    void rethrow() {
        if (first != null) {
            throw first;
        }
    }
}
