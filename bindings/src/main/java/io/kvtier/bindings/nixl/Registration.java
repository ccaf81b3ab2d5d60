package io.kvtier.bindings.nixl;

import java.util.List;

/**
 * Memory, files or objects that an agent may transfer to and from. The caller closes it before the memory, and after the
 * transfers and prepared descriptors that use it; closing the agent closes it too.
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

    /** Returns what is registered; the list is fixed. */
    public Descriptors descriptors() {
        return descriptors;
    }

    /**
     * Ends the registration. Closing twice does nothing.
     *
     * @throws IllegalStateException if a transfer or prepared descriptors that are open use what is registered; close those
     *     first
     * @throws NixlException if NIXL does not know it any more
     */
    @Override
    public synchronized void close() {
        if (closed) {
            return;
        }
        try {
            agent.deregister(this, backends);
            closed = true;
        } catch (NixlException e) {
            closed = true;
            throw e;
        }
    }
}
