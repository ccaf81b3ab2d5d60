package io.kvtier.bindings.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** The system's dynamic linker, dlopen(3): unlike the JDK's own loading, it says why a library cannot be opened. */
final class DynamicLinkerNative {
    private static final int RTLD_NOW = 2;
    private static final int RTLD_LOCAL = 0;
    private static final long MAX_MESSAGE = 4096;

    private static final MethodHandle OPEN = handle("dlopen", FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_INT));
    private static final MethodHandle SYMBOL = handle("dlsym", FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS));
    private static final MethodHandle ERROR = handle("dlerror", FunctionDescriptor.of(ADDRESS));

    private DynamicLinkerNative() {}

    /** Opens a library for ever; returns NULL if that fails, and then {@link #error} says why. */
    static MemorySegment open(String pathOrName) {
        try (Arena arena = Arena.ofConfined()) {
            return (MemorySegment) OPEN.invokeExact(arena.allocateFrom(pathOrName), RTLD_NOW | RTLD_LOCAL);
        } catch (Throwable e) {
            throw Downcalls.unexpected("dlopen", e);
        }
    }

    /** Returns the address of a symbol, or NULL. */
    static MemorySegment symbol(MemorySegment library, String name) {
        try (Arena arena = Arena.ofConfined()) {
            return (MemorySegment) SYMBOL.invokeExact(library, arena.allocateFrom(name));
        } catch (Throwable e) {
            throw Downcalls.unexpected("dlsym", e);
        }
    }

    /** Returns what was wrong with this thread's last call. */
    static String error() {
        try {
            MemorySegment text = (MemorySegment) ERROR.invokeExact();
            return text.equals(MemorySegment.NULL)
                    ? "the dynamic linker gives no reason"
                    : text.reinterpret(MAX_MESSAGE).getString(0);
        } catch (Throwable e) {
            throw Downcalls.unexpected("dlerror", e);
        }
    }

    private static MethodHandle handle(String name, FunctionDescriptor descriptor) {
        return NativeLibraries.downcall("posix", name, descriptor);
    }
}
