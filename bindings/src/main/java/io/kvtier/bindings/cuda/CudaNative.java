package io.kvtier.bindings.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.kvtier.bindings.cuda.generated.CudaApi;
import io.kvtier.bindings.internal.Downcalls;
import io.kvtier.bindings.internal.NativeLibraries;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** What the generated class does not do: texts and memory with bounds, and copies whose addresses are plain numbers. */
final class CudaNative {
    // Numbers instead of segments: a copy makes no garbage, and an address on a device never looks like memory to Java.
    private static final MethodHandle MEMCPY = handle(
            "cudaMemcpyAsync", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, ADDRESS));
    // Memory of others is a segment: it cannot be closed during the call.
    private static final MethodHandle MEMCPY_FROM_HOST = handle(
            "cudaMemcpyAsync", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_INT, ADDRESS));
    private static final MethodHandle MEMCPY_TO_HOST = handle(
            "cudaMemcpyAsync", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_INT, ADDRESS));
    private static final MethodHandle MEMCPY_PEER = handle(
            "cudaMemcpyPeerAsync",
            FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG, ADDRESS));
    private static final MethodHandle MEMCPY_2D = handle(
            "cudaMemcpy2DAsync",
            FunctionDescriptor.of(
                    JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, ADDRESS));
    private static final MethodHandle MEMSET =
            handle("cudaMemsetAsync", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG, ADDRESS));

    private static final long LONGEST_TEXT = 4096;

    private CudaNative() {}

    /** Returns the runtime's name of a status code, e.g. {@code cudaErrorMemoryAllocation}. */
    static String errorName(int status) {
        return text(CudaApi.cudaGetErrorName(status));
    }

    /** Returns what the runtime says of a status code, e.g. {@code out of memory}. */
    static String errorText(int status) {
        return text(CudaApi.cudaGetErrorString(status));
    }

    /** Gives host memory that the runtime allocated its size, and the arena's lifetime. */
    static MemorySegment hostMemory(MemorySegment pointer, long size, Arena arena) {
        return pointer.reinterpret(size, arena, null);
    }

    static int memcpy(long to, long from, long size, int kind, MemorySegment stream) {
        try {
            return (int) MEMCPY.invokeExact(to, from, size, kind, stream);
        } catch (Throwable e) {
            throw Downcalls.unexpected("cudaMemcpyAsync", e);
        }
    }

    static int memcpyFromHost(long to, MemorySegment from, long size, MemorySegment stream) {
        try {
            return (int) MEMCPY_FROM_HOST.invokeExact(to, from, size, CudaApi.cudaMemcpyHostToDevice(), stream);
        } catch (Throwable e) {
            throw Downcalls.unexpected("cudaMemcpyAsync", e);
        }
    }

    static int memcpyToHost(MemorySegment to, long from, long size, MemorySegment stream) {
        try {
            return (int) MEMCPY_TO_HOST.invokeExact(to, from, size, CudaApi.cudaMemcpyDeviceToHost(), stream);
        } catch (Throwable e) {
            throw Downcalls.unexpected("cudaMemcpyAsync", e);
        }
    }

    static int memcpyPeer(long to, int toDevice, long from, int fromDevice, long size, MemorySegment stream) {
        try {
            return (int) MEMCPY_PEER.invokeExact(to, toDevice, from, fromDevice, size, stream);
        } catch (Throwable e) {
            throw Downcalls.unexpected("cudaMemcpyPeerAsync", e);
        }
    }

    static int memcpy2D(
            long to, long toPitch, long from, long fromPitch, long width, long height, int kind, MemorySegment stream) {
        try {
            return (int) MEMCPY_2D.invokeExact(to, toPitch, from, fromPitch, width, height, kind, stream);
        } catch (Throwable e) {
            throw Downcalls.unexpected("cudaMemcpy2DAsync", e);
        }
    }

    static int memset(long to, int value, long size, MemorySegment stream) {
        try {
            return (int) MEMSET.invokeExact(to, value, size, stream);
        } catch (Throwable e) {
            throw Downcalls.unexpected("cudaMemsetAsync", e);
        }
    }

    private static String text(MemorySegment pointer) {
        return pointer.equals(MemorySegment.NULL)
                ? "an unknown status"
                : pointer.reinterpret(LONGEST_TEXT).getString(0);
    }

    private static MethodHandle handle(String name, FunctionDescriptor descriptor) {
        return NativeLibraries.downcall("cuda", name, descriptor);
    }
}
