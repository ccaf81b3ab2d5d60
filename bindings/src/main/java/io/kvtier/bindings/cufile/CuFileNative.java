package io.kvtier.bindings.cufile;

import io.kvtier.bindings.cufile.generated.CuFileApi;
import io.kvtier.bindings.internal.Downcalls;
import io.kvtier.bindings.internal.Errno;
import io.kvtier.bindings.internal.NativeLibraries;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** What the generated class does not do: reads and writes that leave their errno in {@link Errno#last}. */
final class CuFileNative {
    private static final MethodHandle READ =
            NativeLibraries.downcall("cufile", "cuFileRead", CuFileApi.cuFileRead$descriptor(), Errno.CAPTURE);
    private static final MethodHandle WRITE =
            NativeLibraries.downcall("cufile", "cuFileWrite", CuFileApi.cuFileWrite$descriptor(), Errno.CAPTURE);

    private CuFileNative() {}

    static long read(MemorySegment file, MemorySegment base, long size, long position, long offset) {
        try {
            return (long) READ.invokeExact(Errno.state(), file, base, size, position, offset);
        } catch (Throwable e) {
            throw Downcalls.unexpected("cuFileRead", e);
        }
    }

    static long write(MemorySegment file, MemorySegment base, long size, long position, long offset) {
        try {
            return (long) WRITE.invokeExact(Errno.state(), file, base, size, position, offset);
        } catch (Throwable e) {
            throw Downcalls.unexpected("cuFileWrite", e);
        }
    }
}
