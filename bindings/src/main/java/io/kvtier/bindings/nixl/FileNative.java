package io.kvtier.bindings.nixl;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.kvtier.bindings.internal.Downcalls;
import io.kvtier.bindings.internal.NativeLibraries;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** The length of a file by its descriptor or path: statx(2), whose layout is the same on all machines. */
final class FileNative {
    /** The file is not there, no regular one, or cannot be asked. */
    static final long UNKNOWN = -1;

    private static final int AT_FDCWD = -100;
    private static final int AT_EMPTY_PATH = 0x1000;
    private static final int STATX_TYPE_AND_SIZE = 0x1 | 0x200;
    private static final long MODE = 28;
    private static final long SIZE = 40;
    private static final long BYTES = 256;
    private static final int TYPE_MASK = 0xF000;
    private static final int REGULAR = 0x8000;

    private static final MethodHandle STATX = NativeLibraries.downcall(
            "posix", "statx", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT, JAVA_INT, ADDRESS));
    private static final MemorySegment EMPTY = Arena.global().allocateFrom("");
    private static final ThreadLocal<MemorySegment> ANSWER =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(BYTES, Long.BYTES));

    private FileNative() {}

    /** Returns the length of an open file. */
    static long length(int fileDescriptor) {
        return length(fileDescriptor, EMPTY, AT_EMPTY_PATH);
    }

    /** Returns the length of the file with a path. */
    static long length(MemorySegment path) {
        return length(AT_FDCWD, path, 0);
    }

    private static long length(int folder, MemorySegment path, int flags) {
        MemorySegment answer = ANSWER.get();
        int result;
        try {
            result = (int) STATX.invokeExact(folder, path, flags, STATX_TYPE_AND_SIZE, answer);
        } catch (Throwable e) {
            throw Downcalls.unexpected("statx", e);
        }
        boolean regular = result == 0 && (answer.get(JAVA_SHORT, MODE) & TYPE_MASK) == REGULAR;
        return regular ? answer.get(JAVA_LONG, SIZE) : UNKNOWN;
    }
}
