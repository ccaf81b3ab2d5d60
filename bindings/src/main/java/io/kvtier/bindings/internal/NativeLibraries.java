package io.kvtier.bindings.internal;

import static java.lang.invoke.MethodType.methodType;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The symbols of the native libraries, by the names that the generated classes use: {@code cuda}, {@code cufile},
 * {@code nixl} and {@code posix}. What is missing never fails a class initialiser: its address is {@code NULL} and its
 * handle throws when it is called. A function touched before its library was loaded is looked up again at each call, then
 * works, but stays slower: load first.
 */
public final class NativeLibraries {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final Map<String, SymbolLookup> LOADED =
            new ConcurrentHashMap<>(Map.of("posix", LINKER.defaultLookup()));

    private NativeLibraries() {}

    /** Makes a library's symbols known; only the first call for a library counts. */
    public static void loaded(String library, SymbolLookup symbols) {
        LOADED.putIfAbsent(library, Objects.requireNonNull(symbols, "symbols"));
    }

    /** Returns the symbols of a library: none until it is loaded. */
    public static SymbolLookup lookup(String library) {
        return symbol -> {
            SymbolLookup symbols = LOADED.get(library);
            return symbols == null ? Optional.empty() : symbols.find(symbol);
        };
    }

    /** Returns the address of a symbol, {@code NULL} if it is missing. */
    public static MemorySegment address(String library, String symbol) {
        return lookup(library).find(symbol).orElse(MemorySegment.NULL);
    }

    /** Returns a handle for a function; while that is missing, a call throws {@link UnsatisfiedLinkError}. */
    public static MethodHandle downcall(
            String library, String symbol, FunctionDescriptor descriptor, Linker.Option... options) {
        Function function = new Function(library, symbol, descriptor, options);
        return function.find().orElseGet(function::handle);
    }

    private static final class Function {
        private static final MethodHandle LINKED = linkedHandle();

        private final String library;
        private final String symbol;
        private final FunctionDescriptor descriptor;
        private final Linker.Option[] options;
        private volatile @Nullable MethodHandle linked;

        Function(String library, String symbol, FunctionDescriptor descriptor, Linker.Option[] options) {
            this.library = library;
            this.symbol = symbol;
            this.descriptor = descriptor;
            this.options = options;
        }

        Optional<MethodHandle> find() {
            return lookup(library).find(symbol).map(address -> LINKER.downcallHandle(address, descriptor, options));
        }

        /** Returns a handle that links at its first call. */
        MethodHandle handle() {
            MethodType type = LINKER.downcallHandle(descriptor, options).type().dropParameterTypes(0, 1);
            return MethodHandles.foldArguments(MethodHandles.exactInvoker(type), LINKED.bindTo(this));
        }

        @SuppressWarnings("UnusedMethod") // LINKED calls it
        private MethodHandle linked() {
            MethodHandle handle = linked;
            if (handle == null) {
                handle = find().orElseThrow(this::missing);
                linked = handle;
            }
            return handle;
        }

        private UnsatisfiedLinkError missing() {
            return new UnsatisfiedLinkError(
                    LOADED.containsKey(library)
                            ? "the library " + library + " has no function " + symbol + ": is it an older release?"
                            : symbol + " was called before the library " + library + " was loaded");
        }

        private static MethodHandle linkedHandle() {
            try {
                return MethodHandles.lookup().findVirtual(Function.class, "linked", methodType(MethodHandle.class));
            } catch (ReflectiveOperationException e) {
                throw new LinkageError("no way to link a missing function later", e);
            }
        }
    }
}
