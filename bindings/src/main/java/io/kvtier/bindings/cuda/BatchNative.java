package io.kvtier.bindings.cuda;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.kvtier.bindings.cuda.generated.CudaApi;
import io.kvtier.bindings.cuda.generated.cudaMemcpyAttributes;
import io.kvtier.bindings.cuda.generated.cudaMemcpyBatchAsync_12;
import io.kvtier.bindings.cuda.generated.cudaMemcpyBatchAsync_13;
import io.kvtier.bindings.internal.NativeLibraries;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The batch copy. Runtimes 12.8 and later have it; 12 takes one parameter more than 13, under the same name, so the
 * version that the runtime reports decides.
 */
final class BatchNative {
    private static final MemorySegment FUNCTION = NativeLibraries.address("cuda", "cudaMemcpyBatchAsync");
    private static final boolean REPORTS_FAILED_COPY = Cuda.runtimeMajor() < 13;
    private static final MemorySegment ATTRIBUTES = attributes();
    private static final MemorySegment ATTRIBUTE_STARTS = Arena.global().allocate(JAVA_LONG);

    private BatchNative() {}

    static boolean isThere() {
        return !FUNCTION.equals(MemorySegment.NULL);
    }

    /** Copies; runtime 12 writes into {@code failed} which copy is to blame, or -1. */
    static int memcpyBatch(
            MemorySegment to,
            MemorySegment from,
            MemorySegment sizes,
            long count,
            MemorySegment failed,
            MemorySegment stream) {
        return REPORTS_FAILED_COPY
                ? cudaMemcpyBatchAsync_12.invoke(
                        FUNCTION, to, from, sizes, count, ATTRIBUTES, ATTRIBUTE_STARTS, 1, failed, stream)
                : cudaMemcpyBatchAsync_13.invoke(
                        FUNCTION, to, from, sizes, count, ATTRIBUTES, ATTRIBUTE_STARTS, 1, stream);
    }

    /** One entry that holds for all copies from the first on: sources are read in the order of the stream. */
    private static MemorySegment attributes() {
        MemorySegment attributes = cudaMemcpyAttributes.allocate(Arena.global());
        cudaMemcpyAttributes.srcAccessOrder(attributes, CudaApi.cudaMemcpySrcAccessOrderStream());
        return attributes;
    }
}
