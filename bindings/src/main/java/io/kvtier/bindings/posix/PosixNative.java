package io.kvtier.bindings.posix;

import io.kvtier.bindings.internal.Downcalls;
import io.kvtier.bindings.internal.NativeLibraries;
import io.kvtier.bindings.posix.generated.PosixApi;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/** The calls, each with the errno of its own thread in a segment of the caller. */
final class PosixNative {
    private static final StructLayout STATE = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));
    private static final Linker.Option CAPTURE = Linker.Option.captureCallState("errno");

    private static final MethodHandle OPEN = NativeLibraries.downcall(
            "posix", "open", PosixApi.open$descriptor(), CAPTURE, Linker.Option.firstVariadicArg(2));
    private static final MethodHandle PWRITE =
            NativeLibraries.downcall("posix", "pwrite", PosixApi.pwrite$descriptor(), CAPTURE);
    private static final MethodHandle PREAD =
            NativeLibraries.downcall("posix", "pread", PosixApi.pread$descriptor(), CAPTURE);
    private static final MethodHandle CLOSE =
            NativeLibraries.downcall("posix", "close", PosixApi.close$descriptor(), CAPTURE);

    private PosixNative() {}

    /** Allocates room for a call's errno. */
    static MemorySegment errnoState(Arena arena) {
        return arena.allocate(STATE);
    }

    static int errno(MemorySegment state) {
        return (int) ERRNO.get(state, 0L);
    }

    static int open(MemorySegment state, MemorySegment path, int flags, int mode) {
        try {
            return (int) OPEN.invokeExact(state, path, flags, mode);
        } catch (Throwable e) {
            throw Downcalls.unexpected("open", e);
        }
    }

    static long pwrite(MemorySegment state, int file, MemorySegment bytes, long count, long offset) {
        try {
            return (long) PWRITE.invokeExact(state, file, bytes, count, offset);
        } catch (Throwable e) {
            throw Downcalls.unexpected("pwrite", e);
        }
    }

    static long pread(MemorySegment state, int file, MemorySegment bytes, long count, long offset) {
        try {
            return (long) PREAD.invokeExact(state, file, bytes, count, offset);
        } catch (Throwable e) {
            throw Downcalls.unexpected("pread", e);
        }
    }

    static int close(MemorySegment state, int file) {
        try {
            return (int) CLOSE.invokeExact(state, file);
        } catch (Throwable e) {
            throw Downcalls.unexpected("close", e);
        }
    }

    /** Returns the name of errno where it is one of those that matter here. */
    static String text(int errno) {
        return switch (errno) {
            case 1 -> "EPERM";
            case 2 -> "ENOENT";
            case 5 -> "EIO";
            case 13 -> "EACCES";
            case 22 -> "EINVAL";
            case 28 -> "ENOSPC";
            case 30 -> "EROFS";
            case 95 -> "EOPNOTSUPP";
            case 122 -> "EDQUOT";
            default -> "errno " + errno;
        };
    }
}
