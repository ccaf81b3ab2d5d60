/* cudaMalloc and cudaFree. */
#include "emulator.h"

static cudaError_t allocate(void **pointer, size_t size) {
  int ordinal = kve_current_device();
  struct device *device = kve_device(ordinal);
  if (pointer == NULL) {
    return cudaErrorInvalidValue;
  }
  if (size == 0) {
    *pointer = NULL;
    return cudaSuccess;
  }
  struct memory *memory = size > device->total - device->used ? NULL : kve_device_allocate(ordinal, size, MEMORY_DEVICE);
  if (memory == NULL) {
    return cudaErrorMemoryAllocation;
  }
  device->used += size;
  *pointer = (void *) memory->address;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void **pointer, size_t size) {
  ENTER();
  return kve_leave(allocate(pointer, size));
}

static cudaError_t refuse(const void *pointer, const char *reason) {
  kve_misuse("cudaFree: %p %s", pointer, reason);
  return cudaErrorInvalidValue;
}

static cudaError_t release(void *pointer) {
  if (pointer == NULL) {
    return cudaSuccess;
  }
  struct memory *memory = kve_memory_at((uintptr_t) pointer);
  if (memory == NULL || memory->address != (uintptr_t) pointer) {
    return refuse(pointer, "is no allocation (any more)");
  }
  if (!kve_memory_on_device(memory)) {
    return refuse(pointer, "is host memory");
  }
  if (memory->kind == MEMORY_IMPORTED) {
    return refuse(pointer, "belongs to another process; cudaIpcCloseMemHandle closes it");
  }
  if (memory->freeing) {
    return refuse(pointer, "is being freed by a stream");
  }
  kve_check_unused(memory, "cudaFree");
  if (memory->kind == MEMORY_POOL) {
    kve_pool_returned(memory->pool, memory->size);
  } else {
    kve_device(memory->device)->used -= memory->size;
  }
  kve_memory_remove(memory);
  return cudaSuccess;
}

cudaError_t cudaFree(void *pointer) {
  ENTER_TO_RELEASE();
  LEAVE_RELEASED(release(pointer));
}
