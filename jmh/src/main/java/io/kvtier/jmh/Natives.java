package io.kvtier.jmh;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the anchors in C share. Pointers are plain numbers, so that no call makes a segment. */
final class Natives {
    private Natives() {}

    /** Links a function in the cheapest way there is: without a change of the thread's state. It must not block. */
    static MethodHandle critical(SymbolLookup lookup, String name, FunctionDescriptor descriptor) {
        return function(lookup, name, descriptor, Linker.Option.critical(false));
    }

    /** Links a function. */
    static MethodHandle function(
            SymbolLookup lookup, String name, FunctionDescriptor descriptor, Linker.Option... options) {
        return Linker.nativeLinker()
                .downcallHandle(
                        lookup.find(name)
                                .orElseThrow(() -> new UnsatisfiedLinkError("there is no function " + name + " here")),
                        descriptor,
                        options);
    }

    /** Returns why some functions cannot be called, or null. */
    static @Nullable String missing(SymbolLookup lookup, List<String> names) {
        for (String name : names) {
            if (lookup.find(name).isEmpty()) {
                return "there is no function " + name + " here";
            }
        }
        return null;
    }

    /** Turns what a method handle may throw into what a caller need not declare. */
    static RuntimeException unexpected(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        return new IllegalStateException("a native call failed", thrown);
    }
}
