package io.kvtier.jmh;

import io.kvtier.bindings.internal.LibcNative;
import io.kvtier.bindings.nixl.Agent;
import io.kvtier.bindings.nixl.AgentConfig;
import io.kvtier.bindings.nixl.Descriptors;
import io.kvtier.bindings.nixl.MemoryType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * What kvtier adds to NIXL between two agents of this process over TCP. Each side has a sender of its own; both send from
 * the same memory to the same receiver.
 */
@State(Scope.Thread)
@SuppressWarnings("NullAway.Init")
public class NixlUcxBenchmark {
    static final String PLUGIN = "UCX";
    static final long BYTES = 64L << 20;

    @Param({"1024", "2048", "4096"})
    int pieceKib;

    @Param({"false", "true"})
    boolean sameRequest;

    long bytes = BYTES;
    MemorySegment source;
    MemorySegment target;
    KvtierTransfer ours;
    CTransfer anchor;
    private Agent receiver;
    private Arena arena;

    /** Makes the memory and both transfers. */
    @Setup
    @SuppressWarnings("MustBeClosedChecker")
    public void open() {
        useLoopback();
        arena = Arena.ofShared();
        source = arena.allocate(bytes, 4096).fill((byte) 1);
        target = arena.allocate(bytes, 4096).fill((byte) 2);
        receiver = Agent.create("receiver", AgentConfig.DEFAULT);
        receiver.createBackend(PLUGIN, Map.of());
        receiver.register(Descriptors.of(MemoryType.DRAM).add(target));
        byte[] metadata = receiver.localMetadata();
        ours = KvtierTransfer.ucx(source, target, metadata, pieceKib * 1024L, sameRequest);
        anchor = CTransfer.ucx(source, target, metadata, pieceKib * 1024L, sameRequest);
    }

    /** UCX reads this when its first agent is created; what the user has set stays. */
    private static void useLoopback() {
        LibcNative.setEnvironmentIfAbsent("UCX_TLS", "tcp,self");
        LibcNative.setEnvironmentIfAbsent("UCX_NET_DEVICES", "lo");
    }

    /** Frees all. */
    @TearDown
    public void close() {
        anchor.close();
        ours.close();
        receiver.close();
        arena.close();
    }

    @Benchmark
    public void pair(PairTimes times) {
        times.measure(ours, anchor);
    }
}
