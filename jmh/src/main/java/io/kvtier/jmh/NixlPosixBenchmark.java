package io.kvtier.jmh;

import io.kvtier.bindings.nixl.Operation;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** What kvtier adds to NIXL between memory and a file. Both sides use the same memory, the same file and the same list. */
@State(Scope.Thread)
@SuppressWarnings("NullAway.Init")
public class NixlPosixBenchmark {
    static final String PLUGIN = "POSIX";
    static final long BYTES = 64L << 20;

    @Param({"WRITE", "READ"})
    Operation operation;

    @Param({"1024", "2048", "4096"})
    int pieceKib;

    @Param({"false", "true"})
    boolean sameRequest;

    long bytes = BYTES;
    MemorySegment memory;
    Path file;
    KvtierTransfer ours;
    CTransfer anchor;
    private Arena arena;

    /** Makes memory and a file, and both transfers. */
    @Setup
    @SuppressWarnings("MustBeClosedChecker")
    public void open() throws IOException {
        arena = Arena.ofShared();
        memory = arena.allocate(bytes, 4096).fill((byte) 1);
        file = Files.createTempFile("kvtier-bench", ".bin");
        Files.write(file, new byte[(int) bytes]);
        ours = KvtierTransfer.posix(operation, memory, file, pieceKib * 1024L, sameRequest);
        anchor = CTransfer.posix(operation, memory, file, pieceKib * 1024L, sameRequest);
    }

    /** Frees all. */
    @TearDown
    public void close() throws IOException {
        anchor.close();
        ours.close();
        arena.close();
        Files.delete(file);
    }

    @Benchmark
    public void pair(PairTimes times) {
        times.measure(ours, anchor);
    }
}
