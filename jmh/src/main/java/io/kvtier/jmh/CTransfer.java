package io.kvtier.jmh;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.kvtier.bindings.nixl.Operation;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/** A transfer whose every NIXL call is made in C; a run is one downcall. */
final class CTransfer implements Runnable, AutoCloseable {
    private final MemorySegment handle;

    private CTransfer(MemorySegment handle) {
        this.handle = handle;
    }

    private interface Create {
        int with(MemorySegment out, Arena arena);
    }

    static CTransfer posix(Operation operation, MemorySegment memory, Path file, long piece, boolean sameRequest) {
        return create(
                (out, arena) -> NixlTransferNative.createPosix(
                        out, code(operation), memory, arena.allocateFrom("rw:" + file), memory.byteSize(), piece),
                sameRequest);
    }

    static CTransfer ucx(MemorySegment source, MemorySegment target, byte[] metadata, long piece, boolean sameRequest) {
        return create(
                (out, arena) -> NixlTransferNative.createUcx(
                        out,
                        code(Operation.WRITE),
                        source,
                        target,
                        arena.allocateFrom(JAVA_BYTE, metadata),
                        source.byteSize(),
                        piece),
                sameRequest);
    }

    private static CTransfer create(Create create, boolean sameRequest) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment out = arena.allocate(ADDRESS);
            check("create", create.with(out, arena));
            CTransfer transfer = new CTransfer(out.get(ADDRESS, 0));
            if (sameRequest) {
                check("keep_request", NixlTransferNative.keepRequest(transfer.handle));
            }
            return transfer;
        }
    }

    private static int code(Operation operation) {
        return operation == Operation.WRITE ? 1 : 0;
    }

    /** Moves all bytes once. */
    @Override
    public void run() {
        check("run_transfer", NixlTransferNative.runTransfer(handle));
    }

    @Override
    public void close() {
        check("destroy_transfer", NixlTransferNative.destroyTransfer(handle));
    }

    private static void check(String function, int status) {
        if (status != 0) {
            throw new IllegalStateException(function + " of the C anchor ends with status " + status);
        }
    }
}
