package io.kvtier.bindings.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** What every library's wrapper needs of libc. */
public final class LibcNative {
    private static final MethodHandle FREE =
            NativeLibraries.downcall("posix", "free", FunctionDescriptor.ofVoid(ADDRESS));
    private static final MethodHandle GETENV =
            NativeLibraries.downcall("posix", "getenv", FunctionDescriptor.of(ADDRESS, ADDRESS));
    private static final MethodHandle SETENV =
            NativeLibraries.downcall("posix", "setenv", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_INT));

    private LibcNative() {}

    /** Frees memory that a library allocated with malloc for its caller. */
    public static void free(MemorySegment memory) {
        try {
            FREE.invokeExact(memory);
        } catch (Throwable e) {
            throw Downcalls.unexpected("free", e);
        }
    }

    /**
     * Sets an environment variable for native code, unless it is set; Java's own view of the environment stays as it is.
     *
     * @return whether it was set by this call
     */
    public static boolean setEnvironmentIfAbsent(String name, String value) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment key = arena.allocateFrom(name);
            MemorySegment present = (MemorySegment) GETENV.invokeExact(key);
            if (!present.equals(MemorySegment.NULL)) {
                return false;
            }
            return (int) SETENV.invokeExact(key, arena.allocateFrom(value), 0) == 0;
        } catch (Throwable e) {
            throw Downcalls.unexpected("setenv", e);
        }
    }
}
