package io.kvtier.bindings.nixl;

import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.nixl.generated.NixlApi;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.StampedLock;

/** A native agent: lets calls in while it is open, and ends once. */
final class AgentHandle {
    /*
     * Calls hold the shared side of `lock`, what ends things the exclusive side, so nothing native goes away under a call.
     * The lock counts readers without an object per thread, which the polls of a transfer need; it is not reentrant: a
     * call must not make another.
     */
    private static final String KIND = "nixl.agent";

    private final String name;
    private final MemorySegment address;
    private final StampedLock lock = new StampedLock();
    private boolean closed;

    AgentHandle(String name, MemorySegment address) {
        this.name = name;
        this.address = address;
        NativeHandles.opened(KIND);
    }

    /** A call that returns something. */
    interface Call<R> {
        R with(MemorySegment agent, Arena arena);
    }

    /** A call that returns a status; anything but success is an error that the call itself reports. */
    interface Action {
        void with(MemorySegment agent, Arena arena);
    }

    String name() {
        return name;
    }

    /** Returns the native agent; only between {@link #enter} and {@link #exit}. */
    MemorySegment address() {
        return address;
    }

    /** Begins a call; the stamp returned ends it. */
    long enter() {
        long stamp = lock.readLock();
        if (closed) {
            lock.unlockRead(stamp);
            throw gone();
        }
        return stamp;
    }

    void exit(long stamp) {
        lock.unlockRead(stamp);
    }

    /** Makes a call with memory that lives as long as the call. */
    <R> R call(Call<R> call) {
        long stamp = enter();
        try (Arena arena = Arena.ofConfined()) {
            return call.with(address, arena);
        } finally {
            lock.unlockRead(stamp);
        }
    }

    void run(Action action) {
        call((agent, arena) -> {
            action.with(agent, arena);
            return name;
        });
    }

    /** Makes a call while no other is made. */
    void runAlone(Action action) {
        long stamp = lock.writeLock();
        try (Arena arena = Arena.ofConfined()) {
            if (closed) {
                throw gone();
            }
            action.with(address, arena);
        } finally {
            lock.unlockWrite(stamp);
        }
    }

    /** Ends the agent after a last action, unless that throws; later calls do nothing. */
    void close(Runnable first) {
        long stamp = lock.writeLock();
        try {
            if (!closed) {
                first.run();
                closed = true;
                int status = NixlApi.nixl_capi_destroy_agent(address);
                NativeHandles.closed(KIND);
                NixlStatus.check("destroy_agent", status, "agent " + name);
            }
        } finally {
            lock.unlockWrite(stamp);
        }
    }

    private IllegalStateException gone() {
        return new IllegalStateException("agent " + name + " is closed");
    }
}
