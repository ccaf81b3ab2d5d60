package io.kvtier.bindings.nixl;

import static java.lang.foreign.ValueLayout.ADDRESS;

import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.nixl.generated.NixlApi;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;

/** One plugin at work in an agent, which owns it: the engine lives until the agent is closed. */
public final class Backend {
    /*
     * The POSIX plugin has a pool with one entry per descriptor in flight, over all transfers. If a transfer finds it empty,
     * it fails half-way and leaves its first part queued: such a transfer is refused before NIXL sees it.
     */
    private static final String KIND = "nixl.backend";

    private final Backends owner;
    private final String plugin;
    private final int maxDescriptors;
    private final MemorySegment handle;
    private final AtomicInteger inFlight = new AtomicInteger();

    Backend(Backends owner, String plugin, int maxDescriptors, MemorySegment handle) {
        this.owner = owner;
        this.plugin = plugin;
        this.maxDescriptors = maxDescriptors;
        this.handle = handle;
        NativeHandles.opened(KIND);
    }

    /** Returns the plugin's name, e.g. {@code POSIX}. */
    public String plugin() {
        return plugin;
    }

    /** Returns the most descriptors that all transfers in progress may have together. */
    public int maxDescriptors() {
        return maxDescriptors;
    }

    /** Returns the descriptors of all transfers in progress. */
    public int descriptorsInFlight() {
        return inFlight.get();
    }

    MemorySegment handle() {
        return handle;
    }

    Backends owner() {
        return owner;
    }

    /** Takes descriptors into flight, or throws if they are too many. */
    void admit(int descriptors) {
        int before = inFlight.get();
        while (descriptors <= maxDescriptors - before) {
            if (inFlight.compareAndSet(before, before + descriptors)) {
                return;
            }
            before = inFlight.get();
        }
        throw new IllegalStateException("backend " + plugin + " may have " + maxDescriptors + " descriptors in flight,"
                + " has " + before + " and got " + descriptors + " more; wait for transfers to end");
    }

    /** Takes descriptors out of flight. */
    void settle(int descriptors) {
        inFlight.addAndGet(-descriptors);
    }

    /** Returns whether another wrapper that the C interface made stands for the same engine. */
    boolean isWrappedBy(MemorySegment other) {
        return engine(handle).equals(engine(other));
    }

    /** A wrapper begins with the pointer to its engine's handle. */
    private static MemorySegment engine(MemorySegment wrapper) {
        return wrapper.reinterpret(ADDRESS.byteSize()).get(ADDRESS, 0);
    }

    /** Frees the wrapper that the C interface made; the agent calls it when it is closed. */
    void free() {
        NixlApi.nixl_capi_destroy_backend(handle);
        NativeHandles.closed(KIND);
    }
}
