package io.kvtier.jmh;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The C library's {@code malloc}, {@code free} and {@code memcpy}. */
final class LibcNative {
    private static final SymbolLookup LOOKUP = Linker.nativeLinker().defaultLookup();
    private static final @Nullable String MISSING = Natives.missing(LOOKUP, List.of("malloc", "free", "memcpy"));

    private LibcNative() {}

    /** Returns why these functions cannot be called, or null. */
    static @Nullable String missing() {
        return MISSING;
    }

    static long malloc(long bytes) {
        try {
            return (long) Functions.MALLOC.invokeExact(bytes);
        } catch (Throwable e) {
            throw Natives.unexpected(e);
        }
    }

    static void free(long address) {
        try {
            Functions.FREE.invokeExact(address);
        } catch (Throwable e) {
            throw Natives.unexpected(e);
        }
    }

    static void memcpy(long to, long from, long bytes) {
        try {
            var _ = (long) Functions.MEMCPY.invokeExact(to, from, bytes);
        } catch (Throwable e) {
            throw Natives.unexpected(e);
        }
    }

    // Linked at the first call: a missing function is a row of the report, not a failure.
    private static final class Functions {
        static final MethodHandle MALLOC =
                Natives.critical(LOOKUP, "malloc", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));
        static final MethodHandle FREE = Natives.critical(LOOKUP, "free", FunctionDescriptor.ofVoid(JAVA_LONG));
        static final MethodHandle MEMCPY =
                Natives.critical(LOOKUP, "memcpy", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    }
}
