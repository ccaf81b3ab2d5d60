package io.kvtier.jmh;

import io.kvtier.bindings.nixl.Agent;
import io.kvtier.bindings.nixl.AgentConfig;
import io.kvtier.bindings.nixl.Descriptors;
import io.kvtier.bindings.nixl.MemoryType;
import io.kvtier.bindings.nixl.Operation;
import io.kvtier.bindings.nixl.Transfer;
import io.kvtier.bindings.nixl.TransferOptions;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The same transfer as {@link CTransfer}, through kvtier. */
final class KvtierTransfer implements Runnable, AutoCloseable {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final long WARM_UP_NANOS = Duration.ofMillis(300).toNanos();
    // A progress thread spins also while the other of the pair runs.
    private static final AgentConfig POLLED = AgentConfig.DEFAULT.withoutProgressThread();
    private static final long FILE = 1;
    private static final long WARM_UP_PIECE = 4096;

    private final Agent agent;
    private final String remoteName;
    private final Operation operation;
    private final Descriptors local;
    private final Descriptors remote;
    private final @Nullable Transfer kept;

    private KvtierTransfer(
            Agent agent,
            String remoteName,
            Operation operation,
            Descriptors local,
            Descriptors remote,
            boolean sameRequest) {
        this.agent = agent;
        this.remoteName = remoteName;
        this.operation = operation;
        this.local = local;
        this.remote = remote;
        this.kept = sameRequest ? create(local, remote) : null;
    }

    static KvtierTransfer posix(Operation operation, MemorySegment memory, Path file, long piece, boolean sameRequest) {
        Agent agent = Agent.create("kvtier", AgentConfig.DEFAULT);
        agent.createBackend("POSIX", Map.of());
        long bytes = memory.byteSize();
        agent.register(Descriptors.of(MemoryType.DRAM).add(memory));
        agent.register(Descriptors.of(MemoryType.FILE).addPath(FILE, "rw", file.toString(), 0, bytes));
        KvtierTransfer transfer = new KvtierTransfer(
                agent,
                agent.name(),
                operation,
                pieces(memory, piece, piece),
                filePieces(bytes, piece, piece),
                sameRequest);
        long small = Math.min(piece, WARM_UP_PIECE);
        transfer.warmUp(pieces(memory, piece, small), filePieces(bytes, piece, small));
        return transfer;
    }

    static KvtierTransfer ucx(
            MemorySegment source, MemorySegment target, byte[] metadata, long piece, boolean sameRequest) {
        Agent agent = Agent.create("kvtier", POLLED);
        agent.createBackend("UCX", Map.of());
        agent.register(Descriptors.of(MemoryType.DRAM).add(source));
        KvtierTransfer transfer = new KvtierTransfer(
                agent,
                agent.loadRemoteMetadata(metadata),
                Operation.WRITE,
                pieces(source, piece, piece),
                pieces(target, piece, piece),
                sameRequest);
        long small = Math.min(piece, WARM_UP_PIECE);
        transfer.warmUp(pieces(source, piece, small), pieces(target, piece, small));
        return transfer;
    }

    private static Descriptors pieces(MemorySegment memory, long stride, long length) {
        Descriptors pieces = Descriptors.of(MemoryType.DRAM);
        for (long at = 0; at < memory.byteSize(); at += stride) {
            pieces.add(memory, at, length);
        }
        return pieces;
    }

    private static Descriptors filePieces(long bytes, long stride, long length) {
        Descriptors pieces = Descriptors.of(MemoryType.FILE);
        for (long at = 0; at < bytes; at += stride) {
            pieces.addRegisteredPath(FILE, at, length);
        }
        return pieces;
    }

    private Transfer create(Descriptors from, Descriptors to) {
        return agent.transfer(operation, from, to, remoteName, TransferOptions.DEFAULT);
    }

    /** As many descriptors of few bytes, until the JIT compiler has seen enough: the pairs are too few for it. */
    private void warmUp(Descriptors from, Descriptors to) {
        long start = System.nanoTime();
        while (System.nanoTime() - start < WARM_UP_NANOS) {
            createAndMove(from, to);
        }
    }

    private void createAndMove(Descriptors from, Descriptors to) {
        try (Transfer transfer = create(from, to)) {
            move(transfer);
        }
    }

    /** Moves all bytes once. */
    @Override
    public void run() {
        if (kept != null) {
            move(kept);
        } else {
            createAndMove(local, remote);
        }
    }

    private static void move(Transfer transfer) {
        transfer.post();
        if (!transfer.await(LONG)) {
            throw new IllegalStateException("the transfer did not end within " + LONG);
        }
    }

    @Override
    public void close() {
        agent.close();
    }
}
