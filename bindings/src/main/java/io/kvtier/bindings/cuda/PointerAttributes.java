package io.kvtier.bindings.cuda;

import io.kvtier.bindings.cuda.generated.CudaApi;
import io.kvtier.bindings.cuda.generated.cudaPointerAttributes;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * What the runtime knows of an address.
 *
 * @param type the kind of memory
 * @param device ordinal of the device that it is on or was pinned for; negative if there is none
 * @param devicePointer the address for the device, 0 if it cannot reach the memory
 * @param hostPointer the address for the host, 0 if it cannot reach the memory
 */
public record PointerAttributes(Type type, int device, long devicePointer, long hostPointer) {
    /** Kinds of memory. */
    public enum Type {
        /** Host memory that CUDA does not know. */
        UNREGISTERED,
        /** Pinned host memory. */
        HOST,
        /** Memory on a device. */
        DEVICE,
        /** Memory that moves between host and devices. */
        MANAGED
    }

    /**
     * Asks for an address. The question goes to the device that is selected on this thread of the operating system.
     *
     * @throws IllegalStateException if CUDA cannot be used here
     * @throws CudaException if the runtime refuses
     */
    public static PointerAttributes of(long address) {
        Cuda.require();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment found = cudaPointerAttributes.allocate(arena);
            CudaStatus.check(
                    "cudaPointerGetAttributes",
                    CudaApi.cudaPointerGetAttributes(found, MemorySegment.ofAddress(address)),
                    "address 0x" + Long.toHexString(address));
            return new PointerAttributes(
                    type(cudaPointerAttributes.type(found)),
                    cudaPointerAttributes.device(found),
                    cudaPointerAttributes.devicePointer(found).address(),
                    cudaPointerAttributes.hostPointer(found).address());
        }
    }

    private static Type type(int code) {
        if (code == CudaApi.cudaMemoryTypeHost()) {
            return Type.HOST;
        }
        if (code == CudaApi.cudaMemoryTypeDevice()) {
            return Type.DEVICE;
        }
        return code == CudaApi.cudaMemoryTypeManaged() ? Type.MANAGED : Type.UNREGISTERED;
    }
}
