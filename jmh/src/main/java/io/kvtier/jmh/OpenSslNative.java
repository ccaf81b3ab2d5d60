package io.kvtier.jmh;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * OpenSSL's SHA-256 by its context functions, which cost less for a short message than {@code EVP_Digest*} and much less
 * than {@code SHA256}, which looks the algorithm up each time.
 */
final class OpenSslNative {
    /** Bytes that hold a {@code SHA256_CTX} (112) in any version. */
    static final long CONTEXT_BYTES = 256;

    private static final List<String> LIBRARIES =
            List.of("libcrypto.so.3", "libcrypto.so.1.1", "libcrypto.3.dylib", "libcrypto.1.1.dylib");
    private static final @Nullable SymbolLookup LOOKUP = library();
    private static final @Nullable String MISSING = LOOKUP == null
            ? "none of " + String.join(", ", LIBRARIES) + " is installed"
            : Natives.missing(LOOKUP, List.of("SHA256_Init", "SHA256_Update", "SHA256_Final"));

    private OpenSslNative() {}

    /** Returns why these functions cannot be called, or null. */
    static @Nullable String missing() {
        return MISSING;
    }

    /** Hashes {@code bytes} bytes at {@code message} to 32 bytes at {@code hash}. */
    static void sha256(long context, long message, long bytes, long hash) {
        try {
            int done = (int) Functions.INIT.invokeExact(context);
            done &= (int) Functions.UPDATE.invokeExact(context, message, bytes);
            done &= (int) Functions.FINAL.invokeExact(hash, context);
            if (done != 1) {
                throw new IllegalStateException("OpenSSL refused to hash");
            }
        } catch (Throwable e) {
            throw Natives.unexpected(e);
        }
    }

    private static @Nullable SymbolLookup library() {
        for (String name : LIBRARIES) {
            try {
                return SymbolLookup.libraryLookup(name, Arena.global());
            } catch (IllegalArgumentException _) {
                // Not installed; another version may be.
            }
        }
        return null;
    }

    private static MethodHandle function(String name, FunctionDescriptor descriptor) {
        if (LOOKUP == null) {
            throw new UnsatisfiedLinkError(MISSING);
        }
        return Natives.critical(LOOKUP, name, descriptor);
    }

    // Linked at the first call: a missing library is a row of the report, not a failure.
    private static final class Functions {
        static final MethodHandle INIT = function("SHA256_Init", FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
        static final MethodHandle UPDATE =
                function("SHA256_Update", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
        static final MethodHandle FINAL =
                function("SHA256_Final", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    }
}
