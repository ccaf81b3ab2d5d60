package io.kvtier.jmh;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.kvtier.bindings.Availability;
import io.kvtier.bindings.nixl.Agent;
import io.kvtier.bindings.nixl.AgentConfig;
import io.kvtier.bindings.nixl.Nixl;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The anchor of the NIXL measures: our own C, linked to the same library that kvtier has loaded. */
final class NixlTransferNative {
    private static final CLibrary LIBRARY = library();

    private NixlTransferNative() {}

    /** Returns why a plugin's transfers cannot be compared here, or null. */
    static @Nullable String missing(String plugin) {
        return LIBRARY.missing() == null ? missingPlugin(plugin) : LIBRARY.missing();
    }

    private static @Nullable String missingPlugin(String plugin) {
        try (Agent agent = Agent.create("look", AgentConfig.DEFAULT)) {
            return agent.plugins().contains(plugin) ? null : "this NIXL has no plugin " + plugin;
        }
    }

    static int createPosix(
            MemorySegment out, int operation, MemorySegment memory, MemorySegment file, long bytes, long piece) {
        try {
            return (int) Functions.CREATE_POSIX.invokeExact(out, operation, memory, file, bytes, piece);
        } catch (Throwable e) {
            throw Natives.unexpected(e);
        }
    }

    static int createUcx(
            MemorySegment out,
            int operation,
            MemorySegment source,
            MemorySegment target,
            MemorySegment metadata,
            long bytes,
            long piece) {
        try {
            return (int) Functions.CREATE_UCX.invokeExact(
                    out, operation, source, target, metadata, metadata.byteSize(), bytes, piece);
        } catch (Throwable e) {
            throw Natives.unexpected(e);
        }
    }

    static int keepRequest(MemorySegment transfer) {
        try {
            return (int) Functions.KEEP_REQUEST.invokeExact(transfer);
        } catch (Throwable e) {
            throw Natives.unexpected(e);
        }
    }

    static int runTransfer(MemorySegment transfer) {
        try {
            return (int) Functions.RUN_TRANSFER.invokeExact(transfer);
        } catch (Throwable e) {
            throw Natives.unexpected(e);
        }
    }

    static int destroyTransfer(MemorySegment transfer) {
        try {
            return (int) Functions.DESTROY_TRANSFER.invokeExact(transfer);
        } catch (Throwable e) {
            throw Natives.unexpected(e);
        }
    }

    private static CLibrary library() {
        return switch (Nixl.availability()) {
            case Availability.Absent absent -> CLibrary.missing(absent.reason());
            case Availability.Present present -> {
                String file = present.location();
                yield CLibrary.compile(
                        List.of("nixl_transfer.c", "nixl.h"), file.startsWith("/") ? file : "-l:" + file);
            }
        };
    }

    // Linked at the first call: a missing library is a row of the report, not a failure. Transfers block: none is
    // critical.
    private static final class Functions {
        private static final SymbolLookup SYMBOLS = LIBRARY.symbols();
        private static final FunctionDescriptor ONE_POINTER = FunctionDescriptor.of(JAVA_INT, ADDRESS);

        static final MethodHandle CREATE_POSIX = Natives.function(
                SYMBOLS,
                "create_posix",
                FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG));
        static final MethodHandle CREATE_UCX = Natives.function(
                SYMBOLS,
                "create_ucx",
                FunctionDescriptor.of(
                        JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG));
        static final MethodHandle KEEP_REQUEST = Natives.function(SYMBOLS, "keep_request", ONE_POINTER);
        static final MethodHandle RUN_TRANSFER = Natives.function(SYMBOLS, "run_transfer", ONE_POINTER);
        static final MethodHandle DESTROY_TRANSFER = Natives.function(SYMBOLS, "destroy_transfer", ONE_POINTER);
    }
}
