package io.kvtier.bindings.nixl;

import java.util.List;

/**
 * Memory, files or objects that an agent may transfer to and from. The caller closes it before the memory, and after the
 * transfers that use it; closing the agent closes it too.
 */
public final class Registration implements AutoCloseable {
    private final Agent agent;
    private final Descriptors descriptors;
    private final List<Backend> backends;
    private boolean closed;

    Registration(Agent agent, Descriptors descriptors, List<Backend> backends) {
        this.agent = agent;
        this.descriptors = descriptors;
        this.backends = backends;
    }

    /** Returns what is registered. */
    public Descriptors descriptors() {
        return descriptors;
    }

    /**
     * Ends the registration. Closing twice does nothing.
     *
     * @throws NixlException if NIXL does not know it any more
     */
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            agent.deregister(this, descriptors, backends);
        }
    }
}
