/*
 * Calls whose parameters depend on the runtime's major version although the symbol's name does not. They are function types,
 * not functions: the caller looks the symbol up, asks cudaRuntimeGetVersion and picks the type. The wrong one crashes.
 *
 *   symbol                       runtime 12                       runtime 13
 *   cudaMemcpyBatchAsync         cudaMemcpyBatchAsync_12 (12.8+)  cudaMemcpyBatchAsync_13
 *   cudaMemPrefetchAsync         cudaMemPrefetchAsync_device      cudaMemPrefetchAsync_location
 *   cudaMemPrefetchAsync_v2      cudaMemPrefetchAsync_location    (no such symbol)
 *   cudaMemAdvise                cudaMemAdvise_device             cudaMemAdvise_location
 *   cudaMemAdvise_v2             cudaMemAdvise_location           (no such symbol)
 */
#ifndef KVTIER_CUDA_BY_MAJOR_H
#define KVTIER_CUDA_BY_MAJOR_H

typedef cudaError_t (*cudaMemcpyBatchAsync_12)(
    void **to,
    void **from,
    size_t *sizes,
    size_t count,
    struct cudaMemcpyAttributes *attributes,
    size_t *attribute_starts,
    size_t attribute_count,
    size_t *failed,
    cudaStream_t stream);

typedef cudaError_t (*cudaMemcpyBatchAsync_13)(
    void *const *to,
    const void *const *from,
    const size_t *sizes,
    size_t count,
    struct cudaMemcpyAttributes *attributes,
    size_t *attribute_starts,
    size_t attribute_count,
    cudaStream_t stream);

typedef cudaError_t (*cudaMemPrefetchAsync_device)(const void *pointer, size_t size, int device, cudaStream_t stream);
typedef cudaError_t (*cudaMemPrefetchAsync_location)(
    const void *pointer, size_t size, struct cudaMemLocation location, unsigned int flags, cudaStream_t stream);

typedef cudaError_t (*cudaMemAdvise_device)(const void *pointer, size_t size, enum cudaMemoryAdvise advice, int device);
typedef cudaError_t (*cudaMemAdvise_location)(
    const void *pointer, size_t size, enum cudaMemoryAdvise advice, struct cudaMemLocation location);

#endif
