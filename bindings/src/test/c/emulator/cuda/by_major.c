/* Calls whose parameters depend on the major version: see cuda-by-major.h. */
#include "copies.h"

#include <stdint.h>

/* ---- batches ---- */

struct batch {
  void *const *to;
  const void *const *from;
  const size_t *sizes;
  size_t count;
  const struct cudaMemcpyAttributes *attributes;
  const size_t *starts;
  size_t attribute_count;
};

static bool check_attributes(const struct batch *batch) {
  if (batch->attributes == NULL || batch->starts == NULL || batch->attribute_count == 0 || batch->attribute_count > batch->count
      || batch->starts[0] != 0) {
    return false;
  }
  for (size_t i = 0; i < batch->attribute_count; i++) {
    const struct cudaMemcpyAttributes *attributes = &batch->attributes[i];
    if (attributes->srcAccessOrder < cudaMemcpySrcAccessOrderStream || attributes->srcAccessOrder > cudaMemcpySrcAccessOrderAny
        || attributes->flags > cudaMemcpyFlagPreferOverlapWithCompute || batch->starts[i] >= batch->count
        || (i > 0 && batch->starts[i] <= batch->starts[i - 1])) {
      return false;
    }
  }
  return true;
}

static enum staging staging_of(const struct batch *batch, size_t index) {
  size_t entry = 0;
  while (entry + 1 < batch->attribute_count && batch->starts[entry + 1] <= index) {
    entry++;
  }
  return batch->attributes[entry].srcAccessOrder == cudaMemcpySrcAccessOrderDuringApiCall ? STAGE_ALWAYS : STAGE_NEVER;
}

static cudaError_t copy_batch(const struct batch *batch, cudaStream_t handle, size_t *failed) {
  const char *function = "cudaMemcpyBatchAsync";
  *failed = SIZE_MAX;
  if ((uintptr_t) handle <= 1) {
    kve_misuse("%s does not take the NULL stream", function);
    return cudaErrorInvalidValue;
  }
  struct stream *stream = kve_stream(handle, function);
  if (stream == NULL) {
    return cudaErrorInvalidResourceHandle;
  }
  if (batch->to == NULL || batch->from == NULL || batch->sizes == NULL || batch->count == 0 || !check_attributes(batch)) {
    return cudaErrorInvalidValue;
  }
  struct work *work = kve_copy_work(function, batch->count);
  for (size_t i = 0; i < batch->count; i++) {
    struct piece piece = kve_line(batch->to[i], batch->from[i], batch->sizes[i]);
    cudaError_t status =
        batch->sizes[i] == 0 ? cudaErrorInvalidValue : kve_copy_add(work, stream, piece, cudaMemcpyDefault, staging_of(batch, i));
    if (status != cudaSuccess) {
      *failed = i;
      kve_copy_drop(work);
      return status;
    }
  }
  kve_copy_submit(stream, work);
  return cudaSuccess;
}

/* ---- hints, which the emulator takes and does nothing with ---- */

static bool is_place(struct cudaMemLocation location) {
  switch (location.type) {
    case cudaMemLocationTypeDevice: return kve_device(location.id) != NULL;
    case cudaMemLocationTypeHost:
    case cudaMemLocationTypeHostNumaCurrent: return true;
    case cudaMemLocationTypeHostNuma: return location.id >= 0;
    default: return false;
  }
}

/* Devices can read pageable memory here; memory of cudaMalloc stays where it is and takes no hints. */
static bool takes_hints(const char *function, const void *pointer, size_t size) {
  struct memory *memory;
  char *touchable;
  return size > 0 && kve_range(function, NULL, pointer, size, &memory, &touchable)
         && (memory == NULL || !kve_memory_on_device(memory));
}

static cudaError_t prefetch(
    const void *pointer, size_t size, struct cudaMemLocation location, unsigned int flags, cudaStream_t handle) {
  if (kve_stream(handle, "cudaMemPrefetchAsync") == NULL) {
    return cudaErrorInvalidResourceHandle;
  }
  if (!is_place(location)) {
    return cudaErrorInvalidDevice;
  }
  return flags != 0 || !takes_hints("cudaMemPrefetchAsync", pointer, size) ? cudaErrorInvalidValue : cudaSuccess;
}

static cudaError_t advise(const void *pointer, size_t size, enum cudaMemoryAdvise advice, struct cudaMemLocation location) {
  bool has_place = advice != cudaMemAdviseSetReadMostly && advice != cudaMemAdviseUnsetReadMostly
                   && advice != cudaMemAdviseUnsetPreferredLocation;
  if (has_place && !is_place(location)) {
    return cudaErrorInvalidDevice;
  }
  bool known = advice >= cudaMemAdviseSetReadMostly && advice <= cudaMemAdviseUnsetAccessedBy;
  return !known || !takes_hints("cudaMemAdvise", pointer, size) ? cudaErrorInvalidValue : cudaSuccess;
}

#pragma GCC visibility push(default)
#if EMULATOR_MAJOR == 12

/* The host is device -1. */
static struct cudaMemLocation place(int device) {
  return device == -1 ? (struct cudaMemLocation){cudaMemLocationTypeHost, 0}
                      : (struct cudaMemLocation){cudaMemLocationTypeDevice, device};
}

cudaError_t cudaMemcpyBatchAsync(
    void **to,
    void **from,
    size_t *sizes,
    size_t count,
    struct cudaMemcpyAttributes *attributes,
    size_t *attribute_starts,
    size_t attribute_count,
    size_t *failed,
    cudaStream_t stream) {
  ENTER();
  struct batch batch = {to, (const void *const *) from, sizes, count, attributes, attribute_starts, attribute_count};
  size_t index;
  cudaError_t status = copy_batch(&batch, stream, &index);
  if (failed != NULL && status != cudaSuccess) {
    *failed = index;
  }
  return kve_leave(status);
}

cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t size, int device, cudaStream_t stream) {
  ENTER();
  return kve_leave(prefetch(pointer, size, place(device), 0, stream));
}

cudaError_t cudaMemPrefetchAsync_v2(
    const void *pointer, size_t size, struct cudaMemLocation location, unsigned int flags, cudaStream_t stream) {
  ENTER();
  return kve_leave(prefetch(pointer, size, location, flags, stream));
}

cudaError_t cudaMemAdvise(const void *pointer, size_t size, enum cudaMemoryAdvise advice, int device) {
  ENTER();
  return kve_leave(advise(pointer, size, advice, place(device)));
}

cudaError_t cudaMemAdvise_v2(const void *pointer, size_t size, enum cudaMemoryAdvise advice, struct cudaMemLocation location) {
  ENTER();
  return kve_leave(advise(pointer, size, advice, location));
}

/* Compiles only if the parameters are those of the header. */
extern const cudaMemcpyBatchAsync_12 kve_check_batch;
extern const cudaMemPrefetchAsync_device kve_check_prefetch;
extern const cudaMemPrefetchAsync_location kve_check_prefetch_v2;
extern const cudaMemAdvise_device kve_check_advise;
extern const cudaMemAdvise_location kve_check_advise_v2;
const cudaMemcpyBatchAsync_12 kve_check_batch = cudaMemcpyBatchAsync;
const cudaMemPrefetchAsync_device kve_check_prefetch = cudaMemPrefetchAsync;
const cudaMemPrefetchAsync_location kve_check_prefetch_v2 = cudaMemPrefetchAsync_v2;
const cudaMemAdvise_device kve_check_advise = cudaMemAdvise;
const cudaMemAdvise_location kve_check_advise_v2 = cudaMemAdvise_v2;

#else

cudaError_t cudaMemcpyBatchAsync(
    void *const *to,
    const void *const *from,
    const size_t *sizes,
    size_t count,
    struct cudaMemcpyAttributes *attributes,
    size_t *attribute_starts,
    size_t attribute_count,
    cudaStream_t stream) {
  ENTER();
  struct batch batch = {to, from, sizes, count, attributes, attribute_starts, attribute_count};
  size_t index;
  return kve_leave(copy_batch(&batch, stream, &index));
}

cudaError_t cudaMemPrefetchAsync(
    const void *pointer, size_t size, struct cudaMemLocation location, unsigned int flags, cudaStream_t stream) {
  ENTER();
  return kve_leave(prefetch(pointer, size, location, flags, stream));
}

cudaError_t cudaMemAdvise(const void *pointer, size_t size, enum cudaMemoryAdvise advice, struct cudaMemLocation location) {
  ENTER();
  return kve_leave(advise(pointer, size, advice, location));
}

/* Compiles only if the parameters are those of the header. */
extern const cudaMemcpyBatchAsync_13 kve_check_batch;
extern const cudaMemPrefetchAsync_location kve_check_prefetch;
extern const cudaMemAdvise_location kve_check_advise;
const cudaMemcpyBatchAsync_13 kve_check_batch = cudaMemcpyBatchAsync;
const cudaMemPrefetchAsync_location kve_check_prefetch = cudaMemPrefetchAsync;
const cudaMemAdvise_location kve_check_advise = cudaMemAdvise;

#endif
#pragma GCC visibility pop
