package io.kvtier.bindings.internal;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** A native library that was opened. It is never closed: what native code may still run must not go away. */
public final class SharedLibrary implements SymbolLookup {
    private final String name;
    private final MemorySegment handle;

    private SharedLibrary(String name, MemorySegment handle) {
        this.name = name;
        this.handle = handle;
    }

    /** Either the library or the reason why it cannot be opened. */
    sealed interface Attempt {
        /** The library. */
        record Opened(SharedLibrary library) implements Attempt {}

        /** One sentence. */
        record Refused(String reason) implements Attempt {}
    }

    /** Opens a library by its path, or by a name that the system's loader looks for. */
    static Attempt open(String pathOrName) {
        MemorySegment handle = DynamicLinkerNative.open(pathOrName);
        return handle.equals(MemorySegment.NULL)
                ? new Attempt.Refused(explain(pathOrName, DynamicLinkerNative.error()))
                : new Attempt.Opened(new SharedLibrary(pathOrName, handle));
    }

    /** Returns the path or name that it was opened by. */
    public String name() {
        return name;
    }

    @Override
    public Optional<MemorySegment> find(String symbol) {
        MemorySegment address = DynamicLinkerNative.symbol(handle, symbol);
        return address.equals(MemorySegment.NULL) ? Optional.empty() : Optional.of(address);
    }

    /** Returns those of some symbols that the library lacks. */
    public List<String> missing(List<String> symbols) {
        return symbols.stream().filter(symbol -> find(symbol).isEmpty()).toList();
    }

    /** Says what the dynamic linker's terse words mean. */
    static String explain(String pathOrName, String error) {
        if (error.contains("invalid ELF header") || error.contains("file too short")) {
            return pathOrName + " is no library (" + error + ")";
        }
        // The dynamic linker skips files of another machine as if they were not there.
        if (error.contains("wrong ELF class")
                || (isThere(pathOrName) && error.startsWith(pathOrName + ": cannot open"))) {
            return pathOrName + " is for another architecture (" + error + ")";
        }
        int colon = error.indexOf(": cannot open shared object file");
        if (colon > 0 && !pathOrName.endsWith(error.substring(0, colon))) {
            return pathOrName + " needs " + error.substring(0, colon) + ", which was not found";
        }
        if (colon > 0) {
            return pathOrName + " was not found";
        }
        return pathOrName + " cannot be opened (" + error + ")";
    }

    private static boolean isThere(String pathOrName) {
        return pathOrName.contains("/") && Files.exists(Path.of(pathOrName));
    }
}
