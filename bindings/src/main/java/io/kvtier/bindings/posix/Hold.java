package io.kvtier.bindings.posix;

import io.kvtier.bindings.internal.InFlight;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Keeps a file or memory open while native code elsewhere uses it, e.g. while it is registered with another library. As long
 * as there is one, closing what it holds is refused. Whoever took it closes it, from any thread; closing twice does nothing.
 */
public final class Hold implements AutoCloseable {
    private final InFlight users;
    private final AtomicBoolean closed = new AtomicBoolean();

    Hold(InFlight users) {
        this.users = users;
        users.hold();
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            users.release();
        }
    }
}
