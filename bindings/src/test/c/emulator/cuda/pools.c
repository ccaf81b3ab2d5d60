/*
 * Stream-ordered memory. A pool's memory counts as used on its device until the pool gives it back: at a synchronisation, as far
 * as it exceeds the release threshold, or when it is trimmed.
 */
#include "emulator.h"

#include <stdlib.h>

struct pool {
  cudaMemPool_t handle;
  int device;
  size_t most; /* 0 for no limit */
  size_t used;
  size_t used_high;
  size_t reserved;
  size_t reserved_high;
  uint64_t threshold;
  int reuse[4];
  bool access[MAX_DEVICES];
  bool destroyed;
  bool is_default;
  long allocations;
};

static struct pool defaults[MAX_DEVICES];

static struct pool *default_pool(int device) {
  struct pool *pool = &defaults[device];
  if (!pool->is_default) {
    pool->is_default = true;
    pool->device = device;
    pool->access[device] = true;
    pool->handle = (cudaMemPool_t) (0x7d00000000UL + (uintptr_t) device);
    pool->reuse[1] = pool->reuse[2] = pool->reuse[3] = 1;
  }
  return pool;
}

static struct pool *pool_of(cudaMemPool_t handle, const char *function) {
  uintptr_t index = (uintptr_t) handle - 0x7d00000000UL;
  if (index < (uintptr_t) kve_device_count()) {
    return default_pool((int) index);
  }
  return kve_handle(HANDLE_POOL, (uintptr_t) handle, function);
}

static void reserve(struct pool *pool, size_t size) {
  struct device *device = kve_device(pool->device);
  device->used = device->used - pool->reserved + size;
  pool->reserved = size;
  if (size > pool->reserved_high) {
    pool->reserved_high = size;
  }
}

static void keep_at_most(struct pool *pool, size_t keep) {
  size_t least = keep > pool->used ? keep : pool->used;
  if (pool->reserved > least) {
    reserve(pool, least);
  }
}

static void settle(void *object, void *context) {
  (void) context;
  struct pool *pool = object;
  keep_at_most(pool, pool->threshold);
}

void kve_pools_settle(void) {
  for (int i = 0; i < MAX_DEVICES; i++) {
    if (defaults[i].is_default) {
      settle(&defaults[i], NULL);
    }
  }
  kve_handles_of(HANDLE_POOL, settle, NULL);
}

void kve_pool_returned(struct pool *pool, size_t size) {
  pool->used -= size;
  pool->allocations--;
  if (pool->destroyed) {
    keep_at_most(pool, 0);
    if (pool->allocations == 0) {
      free(pool);
    }
  }
}

bool kve_pool_accessible(const struct pool *pool, int device) { return pool->access[device]; }

/* ---- allocating in a stream ---- */

static void nothing(struct work *work) { (void) work; }

static cudaError_t allocate(const char *function, void **pointer, size_t size, struct pool *pool, cudaStream_t handle) {
  struct stream *stream = kve_stream(handle, function);
  if (stream == NULL) {
    return cudaErrorInvalidResourceHandle;
  }
  if (pool == NULL) {
    pool = default_pool(stream->device);
  }
  if (pointer == NULL || size == 0) {
    return cudaErrorInvalidValue;
  }
  struct device *device = kve_device(pool->device);
  size_t needed = pool->used + size;
  size_t room = device->total - device->used + (pool->reserved - pool->used);
  bool fits = size <= room && (pool->most == 0 || needed <= pool->most);
  struct memory *memory = fits ? kve_device_allocate(pool->device, size, MEMORY_POOL) : NULL;
  if (memory == NULL) {
    return cudaErrorMemoryAllocation;
  }
  pool->used = needed;
  pool->used_high = needed > pool->used_high ? needed : pool->used_high;
  pool->allocations++;
  if (needed > pool->reserved) {
    reserve(pool, needed);
  }
  memory->pool = pool;
  memory->born = kve_submit(stream, kve_work(function, nothing, 0));
  *pointer = (void *) memory->address;
  return cudaSuccess;
}

cudaError_t cudaMallocAsync(void **pointer, size_t size, cudaStream_t stream) {
  ENTER();
  return kve_leave(allocate(__func__, pointer, size, NULL, stream));
}

cudaError_t cudaMallocFromPoolAsync(void **pointer, size_t size, cudaMemPool_t handle, cudaStream_t stream) {
  ENTER();
  struct pool *pool = pool_of(handle, __func__);
  return kve_leave(pool == NULL ? cudaErrorInvalidValue : allocate(__func__, pointer, size, pool, stream));
}

static void free_now(struct work *work) {
  struct memory *memory = *(struct memory **) work->data;
  kve_pool_returned(memory->pool, memory->size);
  kve_memory_remove(memory);
}

static cudaError_t refuse(const void *pointer, const char *reason) {
  kve_misuse("cudaFreeAsync: %p %s", pointer, reason);
  return cudaErrorInvalidValue;
}

static cudaError_t free_in_order(void *pointer, cudaStream_t handle) {
  struct stream *stream = kve_stream(handle, "cudaFreeAsync");
  if (stream == NULL) {
    return cudaErrorInvalidResourceHandle;
  }
  struct memory *memory = kve_memory_at((uintptr_t) pointer);
  if (memory == NULL || memory->address != (uintptr_t) pointer) {
    return refuse(pointer, "is no allocation (any more)");
  }
  if (memory->kind != MEMORY_POOL) {
    return refuse(pointer, "was not allocated in a stream");
  }
  if (memory->freeing) {
    return refuse(pointer, "is being freed by a stream already");
  }
  const struct work *pending = kve_lost() == cudaSuccess ? kve_pending_use(memory, stream) : NULL;
  if (pending != NULL) {
    kve_misuse(
        "cudaFreeAsync: %s is used by %s in another stream, which this one does not wait for", kve_memory_name(memory),
        pending->name);
  } else if (!kve_ordered(stream, memory->born)) {
    kve_misuse("cudaFreeAsync: %s may not be allocated yet when this stream frees it", kve_memory_name(memory));
  }
  if (memory->buffers > 0) {
    kve_misuse("cudaFreeAsync: %s is still registered with cuFile", kve_memory_name(memory));
  }
  memory->freeing = true;
  struct work *work = kve_work("cudaFreeAsync", nothing, sizeof(memory));
  *(struct memory **) work->data = memory;
  work->done = free_now;
  kve_submit(stream, work);
  return cudaSuccess;
}

cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream) {
  ENTER_TO_RELEASE();
  LEAVE_RELEASED(free_in_order(pointer, stream));
}

/* ---- pools ---- */

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device) {
  ENTER();
  if (pool == NULL) {
    return kve_leave(cudaErrorInvalidValue);
  }
  if (kve_device(device) == NULL) {
    return kve_leave(cudaErrorInvalidDevice);
  }
  *pool = default_pool(device)->handle;
  return kve_leave(cudaSuccess);
}

static bool zeroed(const unsigned char *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) {
    if (bytes[i] != 0) {
      return false;
    }
  }
  return true;
}

static cudaError_t create(cudaMemPool_t *handle, const struct cudaMemPoolProps *properties) {
  if (handle == NULL || properties == NULL || properties->allocType != cudaMemAllocationTypePinned
      || properties->location.type != cudaMemLocationTypeDevice) {
    return cudaErrorInvalidValue;
  }
  if (!zeroed(properties->reserved, sizeof(properties->reserved)) || properties->win32SecurityAttributes != NULL) {
    kve_misuse("cudaMemPoolCreate: the reserved part of the properties is not zero");
    return cudaErrorInvalidValue;
  }
  if (kve_device(properties->location.id) == NULL) {
    return cudaErrorInvalidDevice;
  }
  struct pool *pool = calloc(1, sizeof(*pool));
  pool->device = properties->location.id;
  pool->most = properties->maxSize;
  pool->access[pool->device] = true;
  pool->reuse[1] = pool->reuse[2] = pool->reuse[3] = 1;
  pool->handle = (cudaMemPool_t) kve_handle_open(HANDLE_POOL, pool, "of device %d", pool->device);
  *handle = pool->handle;
  return cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *properties) {
  ENTER();
  return kve_leave(create(pool, properties));
}

/* Memory of the pool lives on; the pool goes with the last of it. */
cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle) {
  ENTER_TO_RELEASE();
  struct pool *pool = pool_of(handle, __func__);
  if (pool == NULL || pool->is_default) {
    LEAVE_RELEASED(cudaErrorInvalidValue);
  }
  kve_handle_close((uintptr_t) handle);
  pool->destroyed = true;
  keep_at_most(pool, 0);
  if (pool->allocations == 0) {
    free(pool);
  }
  LEAVE_RELEASED(cudaSuccess);
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, size_t keep) {
  ENTER();
  struct pool *pool = pool_of(handle, __func__);
  if (pool == NULL) {
    return kve_leave(cudaErrorInvalidValue);
  }
  keep_at_most(pool, keep);
  return kve_leave(cudaSuccess);
}

static cudaError_t get_attribute(const struct pool *pool, enum cudaMemPoolAttr attribute, void *value) {
  switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies: *(int *) value = pool->reuse[attribute]; return cudaSuccess;
    case cudaMemPoolAttrReleaseThreshold: *(uint64_t *) value = pool->threshold; return cudaSuccess;
    case cudaMemPoolAttrReservedMemCurrent: *(uint64_t *) value = pool->reserved; return cudaSuccess;
    case cudaMemPoolAttrReservedMemHigh: *(uint64_t *) value = pool->reserved_high; return cudaSuccess;
    case cudaMemPoolAttrUsedMemCurrent: *(uint64_t *) value = pool->used; return cudaSuccess;
    case cudaMemPoolAttrUsedMemHigh: *(uint64_t *) value = pool->used_high; return cudaSuccess;
    default: return cudaErrorInvalidValue;
  }
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, enum cudaMemPoolAttr attribute, void *value) {
  ENTER();
  struct pool *pool = pool_of(handle, __func__);
  return kve_leave(pool == NULL || value == NULL ? cudaErrorInvalidValue : get_attribute(pool, attribute, value));
}

static cudaError_t set_attribute(struct pool *pool, enum cudaMemPoolAttr attribute, const void *value) {
  switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies: pool->reuse[attribute] = *(const int *) value != 0; return cudaSuccess;
    case cudaMemPoolAttrReleaseThreshold: pool->threshold = *(const uint64_t *) value; return cudaSuccess;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
      if (*(const uint64_t *) value != 0) {
        return cudaErrorInvalidValue;
      }
      *(attribute == cudaMemPoolAttrUsedMemHigh ? &pool->used_high : &pool->reserved_high) = 0;
      return cudaSuccess;
    default: return cudaErrorInvalidValue;
  }
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, enum cudaMemPoolAttr attribute, void *value) {
  ENTER();
  struct pool *pool = pool_of(handle, __func__);
  return kve_leave(pool == NULL || value == NULL ? cudaErrorInvalidValue : set_attribute(pool, attribute, value));
}

static cudaError_t set_access(struct pool *pool, const struct cudaMemAccessDesc *entry) {
  int device = entry->location.id;
  bool known = entry->flags == cudaMemAccessFlagsProtNone || entry->flags == cudaMemAccessFlagsProtRead
               || entry->flags == cudaMemAccessFlagsProtReadWrite;
  if (entry->location.type != cudaMemLocationTypeDevice || !known) {
    return cudaErrorInvalidValue;
  }
  if (kve_device(device) == NULL) {
    return cudaErrorInvalidDevice;
  }
  if (device == pool->device && entry->flags != cudaMemAccessFlagsProtReadWrite) {
    return cudaErrorInvalidValue;
  }
  pool->access[device] = entry->flags != cudaMemAccessFlagsProtNone;
  return cudaSuccess;
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t handle, const struct cudaMemAccessDesc *list, size_t count) {
  ENTER();
  struct pool *pool = pool_of(handle, __func__);
  cudaError_t status = pool == NULL || list == NULL ? cudaErrorInvalidValue : cudaSuccess;
  for (size_t i = 0; i < count && status == cudaSuccess; i++) {
    status = set_access(pool, &list[i]);
  }
  return kve_leave(status);
}
