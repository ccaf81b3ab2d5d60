package io.kvtier.bindings.internal;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.kvtier.bindings.nixl.generated.NixlApi;
import io.kvtier.bindings.posix.generated.PosixApi;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import org.junit.jupiter.api.Test;

class NativeLibrariesTest {
    private static final FunctionDescriptor INT = FunctionDescriptor.of(JAVA_INT);

    @Test
    void generatedFunctionsCallTheCLibrary() {
        long pageSize = PosixApi.sysconf(PosixApi._SC_PAGESIZE());
        assertThat(pageSize).isGreaterThanOrEqualTo(4096);
        assertThat(Long.bitCount(pageSize)).isOne();
    }

    @Test
    void constantsOfAMissingLibraryAreUsable() {
        assertThat(NixlApi.NIXL_CAPI_ERROR_BACKEND()).isEqualTo(-2);
    }

    @Test
    void aMissingLibraryFailsItsCallsOnly() {
        MethodHandle handle = NativeLibraries.downcall("nowhere", "someFunction", INT);
        for (int i = 0; i < 2; i++) {
            assertThatExceptionOfType(UnsatisfiedLinkError.class)
                    .isThrownBy(() -> handle.invoke())
                    .withMessage("someFunction was called before the library nowhere was loaded");
        }
        assertThat(NativeLibraries.address("nowhere", "someFunction")).isEqualTo(MemorySegment.NULL);
        assertThat(NativeLibraries.lookup("nowhere").find("someFunction")).isEmpty();
    }

    @Test
    void aMissingFunctionSaysSo() {
        MethodHandle handle = NativeLibraries.downcall("posix", "no_such_call", INT);
        assertThatExceptionOfType(UnsatisfiedLinkError.class)
                .isThrownBy(() -> handle.invoke())
                .withMessage("the library posix has no function no_such_call: is it an older release?");
    }

    @Test
    void aFunctionTouchedBeforeItsLibraryWasLoadedWorksAfterwards() throws Throwable {
        MethodHandle getpid = NativeLibraries.downcall("late", "getpid", INT);
        assertThatExceptionOfType(UnsatisfiedLinkError.class).isThrownBy(() -> getpid.invoke());
        NativeLibraries.loaded("late", Linker.nativeLinker().defaultLookup());
        assertThat((int) getpid.invokeExact())
                .isEqualTo((int) ProcessHandle.current().pid());
        NativeLibraries.loaded("late", symbol -> {
            throw new AssertionError("only the first counts: " + symbol);
        });
        assertThat(NativeLibraries.lookup("late").find("getpid")).isPresent();
    }

    @Test
    void handlesCaptureErrnoAndPassVariableParameters() throws Throwable {
        MethodHandle open = NativeLibraries.downcall(
                "posix",
                "open",
                PosixApi.open$descriptor(),
                Linker.Option.captureCallState("errno"),
                Linker.Option.firstVariadicArg(2));
        VarHandle errno = Linker.Option.captureStateLayout().varHandle(PathElement.groupElement("errno"));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = arena.allocate(Linker.Option.captureStateLayout());
            MemorySegment path = arena.allocateFrom("/nowhere/at/all");
            assertThat((int) open.invokeExact(state, path, PosixApi.O_RDONLY(), 0))
                    .isEqualTo(-1);
            assertThat((int) errno.get(state, 0L)).isEqualTo(PosixApi.ENOENT());
        }
    }
}
