package io.kvtier.bindings.nixl;

import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.nixl.generated.NixlApi;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * Descriptors that NIXL has looked up in advance: transfers between some of them, named by their indices, are made faster
 * than from lists. The caller closes them before their registration; closing the agent closes them too. Transfers made from
 * them live on. For all threads.
 */
public final class PreparedDescriptors implements AutoCloseable {
    private static final String KIND = "nixl.prepared";

    private final Transfers owner;
    private final Descriptors descriptors;
    private final String remoteAgent;
    private final MemorySegment handle;
    private boolean closed;

    PreparedDescriptors(Transfers owner, Descriptors descriptors, String remoteAgent, MemorySegment handle) {
        this.owner = owner;
        this.descriptors = descriptors;
        this.remoteAgent = remoteAgent;
        this.handle = handle;
        NativeHandles.opened(KIND);
    }

    /** Returns what was prepared; the list is fixed. */
    public Descriptors descriptors() {
        return descriptors;
    }

    /** Returns the agent they belong to; empty if they are the local side of transfers. */
    public String remoteAgent() {
        return remoteAgent;
    }

    /** Frees them. Closing twice does nothing. */
    @Override
    public void close() {
        owner.release(this);
    }

    boolean isOf(Transfers transfers) {
        return owner == transfers;
    }

    /** Returns the native handle; only within a call of the agent. */
    MemorySegment handle() {
        if (closed) {
            throw new IllegalStateException("prepared " + descriptors + " are closed");
        }
        return handle;
    }

    /** Throws unless all indices are of these descriptors. */
    void requireIndices(int[] indices) {
        for (int index : indices) {
            Objects.checkIndex(index, descriptors.size());
        }
    }

    /** Frees the native handle; only while no other call of the agent is made. */
    void free(MemorySegment agent) {
        if (!closed) {
            closed = true;
            NativeHandles.closed(KIND);
            NixlStatus.check(
                    "release_xfer_dlist_handle",
                    NixlApi.nixl_capi_release_xfer_dlist_handle(agent, handle),
                    descriptors.toString());
        }
    }
}
