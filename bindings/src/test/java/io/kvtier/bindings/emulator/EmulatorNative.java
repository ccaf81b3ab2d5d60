package io.kvtier.bindings.emulator;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/** The control functions of the emulator, as in {@code control.h}. */
public final class EmulatorNative {
    private final SymbolLookup library;

    /** Opens the emulated runtime; the dynamic linker gives the same one to all who ask for this file. */
    public EmulatorNative(Path runtime) {
        library = SymbolLookup.libraryLookup(runtime, Arena.global());
    }

    /** Calls a control function, whose parameters are the arguments' kinds: MemorySegment, Long, Integer. */
    public void call(String name, Object... arguments) {
        invoke(name, null, arguments);
    }

    /** Calls one that returns a number. */
    public long ask(String name, Object... arguments) {
        return (long) invoke(name, JAVA_LONG, arguments);
    }

    private Object invoke(String name, MemoryLayout result, Object... arguments) {
        MemoryLayout[] parameters = new MemoryLayout[arguments.length];
        for (int i = 0; i < arguments.length; i++) {
            parameters[i] = switch (arguments[i]) {
                case Long _ -> JAVA_LONG;
                case Integer _ -> JAVA_INT;
                default -> ADDRESS;
            };
        }
        MethodHandle handle = Linker.nativeLinker()
                .downcallHandle(
                        library.find("kvtier_emulator_" + name).orElseThrow(),
                        result == null
                                ? FunctionDescriptor.ofVoid(parameters)
                                : FunctionDescriptor.of(result, parameters));
        try {
            return handle.invokeWithArguments(arguments);
        } catch (Throwable e) {
            throw new AssertionError("kvtier_emulator_" + name, e);
        }
    }
}
