/* Pinned memory, and what a pointer is. */
#include "emulator.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096UL
#define ATTRIBUTES (EMULATOR_MAJOR == 12 ? 24 : 88)
#define NO_DEVICE (-2)

static struct memory *add(enum memory_kind kind, void *pointer, size_t size, unsigned int flags) {
  struct memory *memory = calloc(1, sizeof(*memory));
  memory->kind = kind;
  memory->address = (uintptr_t) pointer;
  memory->shadow = pointer;
  memory->size = size;
  memory->extent = (size + PAGE - 1) & ~(PAGE - 1);
  memory->device = kve_current_device();
  memory->flags = flags;
  kve_memory_add(memory);
  return memory;
}

/* ---- allocated ---- */

static cudaError_t allocate(void **pointer, size_t size, unsigned int flags) {
  if (pointer == NULL || flags > (cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined)) {
    return cudaErrorInvalidValue;
  }
  *pointer = NULL;
  if (size == 0) {
    return cudaSuccess;
  }
  void *start = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) {
    return cudaErrorMemoryAllocation;
  }
  add(MEMORY_PINNED, start, size, flags);
  *pointer = start;
  return cudaSuccess;
}

cudaError_t cudaHostAlloc(void **pointer, size_t size, unsigned int flags) {
  ENTER();
  return kve_leave(allocate(pointer, size, flags));
}

static struct memory *exactly(enum memory_kind kind, void *pointer, const char *function) {
  struct memory *memory = kve_memory_at((uintptr_t) pointer);
  if (memory != NULL && memory->kind == kind && memory->address == (uintptr_t) pointer) {
    return memory;
  }
  kve_misuse(
      "%s: %p is no %s", function, pointer, kind == MEMORY_PINNED ? "memory of cudaHostAlloc (any more)" : "registered memory");
  return NULL;
}

cudaError_t cudaFreeHost(void *pointer) {
  ENTER_TO_RELEASE();
  if (pointer == NULL) {
    LEAVE_RELEASED(cudaSuccess);
  }
  struct memory *memory = exactly(MEMORY_PINNED, pointer, __func__);
  if (memory == NULL) {
    LEAVE_RELEASED(cudaErrorInvalidValue);
  }
  kve_check_unused(memory, __func__);
  kve_memory_remove(memory);
  LEAVE_RELEASED(cudaSuccess);
}

/* ---- registered ---- */

static bool is_mapped(uintptr_t address, size_t size) {
  uintptr_t first = address & ~(PAGE - 1);
  size_t pages = (address + size - first + PAGE - 1) / PAGE;
  unsigned char *present = malloc(pages);
  bool mapped = present != NULL && mincore((void *) first, pages * PAGE, present) == 0;
  free(present);
  return mapped;
}

static cudaError_t registered(void *pointer, size_t size, unsigned int flags) {
  if (pointer == NULL || size == 0 || flags > 15 || size > UINTPTR_MAX - (uintptr_t) pointer) {
    return cudaErrorInvalidValue;
  }
  if ((flags & cudaHostRegisterIoMemory) != 0
      || ((flags & cudaHostRegisterReadOnly) != 0 && !kve_registers_read_only(kve_current_device()))) {
    return cudaErrorNotSupported;
  }
  struct memory *other = kve_memory_overlapping((uintptr_t) pointer, size);
  if (other != NULL) {
    kve_misuse("cudaHostRegister: %p with %zu bytes overlaps %s", pointer, size, kve_memory_name(other));
    return kve_memory_on_device(other) ? cudaErrorInvalidValue : cudaErrorHostMemoryAlreadyRegistered;
  }
  if (kve_is_device_address((uintptr_t) pointer) || !is_mapped((uintptr_t) pointer, size)) {
    kve_misuse("cudaHostRegister: %p with %zu bytes is not all host memory", pointer, size);
    return cudaErrorInvalidValue;
  }
  add(MEMORY_REGISTERED, pointer, size, flags);
  return cudaSuccess;
}

cudaError_t cudaHostRegister(void *pointer, size_t size, unsigned int flags) {
  ENTER();
  return kve_leave(registered(pointer, size, flags));
}

/* Work in flight is dropped: the caller may unmap the memory at once. */
cudaError_t cudaHostUnregister(void *pointer) {
  ENTER_TO_RELEASE();
  struct memory *memory = exactly(MEMORY_REGISTERED, pointer, __func__);
  if (memory == NULL) {
    LEAVE_RELEASED(cudaErrorHostMemoryNotRegistered);
  }
  kve_check_unused(memory, __func__);
  kve_cancel_uses(memory);
  kve_memory_remove(memory);
  LEAVE_RELEASED(cudaSuccess);
}

cudaError_t cudaHostGetDevicePointer(void **device_pointer, void *pointer, unsigned int flags) {
  ENTER();
  struct memory *memory = kve_memory_at((uintptr_t) pointer);
  if (device_pointer == NULL || flags != 0 || memory == NULL || kve_memory_on_device(memory)) {
    return kve_leave(cudaErrorInvalidValue);
  }
  *device_pointer = pointer;
  return kve_leave(cudaSuccess);
}

/* ---- what a pointer is ---- */

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *pointer) {
  ENTER();
  if (attributes == NULL) {
    return kve_leave(cudaErrorInvalidValue);
  }
  struct memory *memory = kve_memory_at((uintptr_t) pointer);
  memset(attributes, 0, ATTRIBUTES);
  if (memory == NULL) {
    attributes->type = cudaMemoryTypeUnregistered;
    attributes->device = NO_DEVICE;
    attributes->hostPointer = (void *) pointer;
    return kve_leave(cudaSuccess);
  }
  bool on_device = kve_memory_on_device(memory);
  attributes->type = on_device ? cudaMemoryTypeDevice : cudaMemoryTypeHost;
  attributes->device = memory->device;
  attributes->devicePointer = (void *) pointer;
  attributes->hostPointer = on_device ? NULL : (void *) pointer;
  return kve_leave(cudaSuccess);
}
