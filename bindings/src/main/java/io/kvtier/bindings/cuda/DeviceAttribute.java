package io.kvtier.bindings.cuda;

import io.kvtier.bindings.cuda.generated.CudaApi;

/** What can be asked of a device beyond its {@link DeviceProperties}. */
public enum DeviceAttribute {
    /** Threads in a warp. */
    WARP_SIZE(CudaApi.cudaDevAttrWarpSize()),
    /** Multiprocessors. */
    MULTIPROCESSORS(CudaApi.cudaDevAttrMultiProcessorCount()),
    /** 1 if the device shares the host's memory. */
    INTEGRATED(CudaApi.cudaDevAttrIntegrated()),
    /** 1 if the device can reach pinned host memory. */
    CAN_MAP_HOST_MEMORY(CudaApi.cudaDevAttrCanMapHostMemory()),
    /** The PCI bus. */
    PCI_BUS(CudaApi.cudaDevAttrPciBusId()),
    /** The slot on the PCI bus. */
    PCI_DEVICE(CudaApi.cudaDevAttrPciDeviceId()),
    /** The PCI domain. */
    PCI_DOMAIN(CudaApi.cudaDevAttrPciDomainId()),
    /** How many copies can run beside kernels; 2 means one in each direction. */
    ASYNC_ENGINES(CudaApi.cudaDevAttrAsyncEngineCount()),
    /** 1 if host and devices share one range of addresses. */
    UNIFIED_ADDRESSING(CudaApi.cudaDevAttrUnifiedAddressing()),
    /** First number of the compute capability. */
    COMPUTE_MAJOR(CudaApi.cudaDevAttrComputeCapabilityMajor()),
    /** Second number of the compute capability. */
    COMPUTE_MINOR(CudaApi.cudaDevAttrComputeCapabilityMinor()),
    /** 1 if there is managed memory. */
    MANAGED_MEMORY(CudaApi.cudaDevAttrManagedMemory()),
    /** 1 if the device can reach host memory that is not pinned. */
    PAGEABLE_MEMORY_ACCESS(CudaApi.cudaDevAttrPageableMemoryAccess()),
    /** 1 if host and device may use managed memory at once. */
    CONCURRENT_MANAGED_ACCESS(CudaApi.cudaDevAttrConcurrentManagedAccess()),
    /** 1 if registered memory has the same address on the device. */
    HOST_POINTER_FOR_REGISTERED(CudaApi.cudaDevAttrCanUseHostPointerForRegisteredMem()),
    /** 1 if {@link PinnedMemory#register} works. */
    HOST_REGISTER(CudaApi.cudaDevAttrHostRegisterSupported()),
    /** 1 if {@link PinnedOption#READ_ONLY} works. */
    HOST_REGISTER_READ_ONLY(CudaApi.cudaDevAttrHostRegisterReadOnlySupported()),
    /** 1 if there are stream-ordered memory and {@link MemoryPool}s. */
    MEMORY_POOLS(CudaApi.cudaDevAttrMemoryPoolsSupported()),
    /** 1 if network and storage adapters can reach the device's memory directly. */
    GPU_DIRECT_RDMA(CudaApi.cudaDevAttrGPUDirectRDMASupported()),
    /** The NUMA node of the host that is nearest; -1 if none is. */
    HOST_NUMA_NODE(CudaApi.cudaDevAttrHostNumaId());

    private final int code;

    DeviceAttribute(int code) {
        this.code = code;
    }

    int code() {
        return code;
    }
}
