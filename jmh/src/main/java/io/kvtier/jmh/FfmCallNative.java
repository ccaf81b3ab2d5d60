package io.kvtier.jmh;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.kvtier.bindings.internal.Errno;
import io.kvtier.bindings.internal.NativeLibraries;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Functions that do next to nothing, linked in each way, and the loops in C that call them through a pointer. */
final class FfmCallNative {
    private static final CLibrary LIBRARY = CLibrary.compile(List.of("ffm_call.c"));

    private FfmCallNative() {}

    /** Returns why these functions cannot be called, or null. */
    static @Nullable String missing() {
        return LIBRARY.missing();
    }

    static void nothing() {
        try {
            Functions.NOTHING.invokeExact();
        } catch (Throwable e) {
            throw Natives.unexpected(e);
        }
    }

    static void nothingCritical() {
        try {
            Functions.NOTHING_CRITICAL.invokeExact();
        } catch (Throwable e) {
            throw Natives.unexpected(e);
        }
    }

    /** Keeps the error number, as each of kvtier's calls into the C library does. */
    static void nothingErrno() {
        try {
            Functions.NOTHING_ERRNO.invokeExact(Errno.state());
        } catch (Throwable e) {
            throw Natives.unexpected(e);
        }
    }

    static long five(long a, int b, long c, int d, long e) {
        try {
            return (long) Functions.FIVE.invokeExact(a, b, c, d, e);
        } catch (Throwable thrown) {
            throw Natives.unexpected(thrown);
        }
    }

    static long fiveCritical(long a, int b, long c, int d, long e) {
        try {
            return (long) Functions.FIVE_CRITICAL.invokeExact(a, b, c, d, e);
        } catch (Throwable thrown) {
            throw Natives.unexpected(thrown);
        }
    }

    /** By a handle such as the generated classes hold. */
    static long fiveGenerated(long a, int b, long c, int d, long e) {
        try {
            return (long) Functions.FIVE_GENERATED.invokeExact(a, b, c, d, e);
        } catch (Throwable thrown) {
            throw Natives.unexpected(thrown);
        }
    }

    /** Calls nothing so many times, in C. */
    static long nothingInC(long calls) {
        try {
            return (long) Functions.CALL_NOTHING.invokeExact(Functions.NOTHING_ADDRESS, calls);
        } catch (Throwable e) {
            throw Natives.unexpected(e);
        }
    }

    /** Adds five numbers so many times, in C. */
    static long fiveInC(long calls) {
        try {
            return (long) Functions.CALL_FIVE.invokeExact(Functions.FIVE_ADDRESS, calls);
        } catch (Throwable e) {
            throw Natives.unexpected(e);
        }
    }

    // Linked at the first call: a missing library is a row of the report, not a failure.
    private static final class Functions {
        private static final String NAME = "bench";
        private static final SymbolLookup SYMBOLS = LIBRARY.symbols();
        private static final FunctionDescriptor VOID = FunctionDescriptor.ofVoid();
        private static final FunctionDescriptor SUM =
                FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG);
        private static final FunctionDescriptor LOOP = FunctionDescriptor.of(JAVA_LONG, ADDRESS, JAVA_LONG);

        static final MethodHandle NOTHING = Natives.function(SYMBOLS, "nothing", VOID);
        static final MethodHandle NOTHING_CRITICAL = Natives.critical(SYMBOLS, "nothing", VOID);
        static final MethodHandle NOTHING_ERRNO = Natives.function(SYMBOLS, "nothing", VOID, Errno.CAPTURE);
        static final MethodHandle FIVE = Natives.function(SYMBOLS, "five", SUM);
        static final MethodHandle FIVE_CRITICAL = Natives.critical(SYMBOLS, "five", SUM);
        static final MethodHandle FIVE_GENERATED;
        static final MethodHandle CALL_NOTHING = Natives.function(SYMBOLS, "call_nothing", LOOP);
        static final MethodHandle CALL_FIVE = Natives.function(SYMBOLS, "call_five", LOOP);
        static final MemorySegment NOTHING_ADDRESS = SYMBOLS.find("nothing").orElseThrow();
        static final MemorySegment FIVE_ADDRESS = SYMBOLS.find("five").orElseThrow();

        static {
            NativeLibraries.loaded(NAME, SYMBOLS);
            FIVE_GENERATED = NativeLibraries.downcall(NAME, "five", SUM);
        }
    }
}
