/*
 * Devices. A device's memory is one file in memory, mapped twice: at the addresses that callers see, where nobody may touch it,
 * and at shadow addresses, which only the emulator knows. The address space is larger than the memory, so that it never
 * fragments.
 */
#include "emulator.h"
#include "sharing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_MEMORY (1UL << 30)
#define SPAN_PER_MEMORY 4
#define V1_PROPERTIES 728
#define PROPERTIES (EMULATOR_MAJOR == 12 ? 1032 : 1008)
#define VERSION (EMULATOR_MAJOR == 12 ? 12090 : 13050)
#define LEAST_PRIORITY 0
#define GREATEST_PRIORITY (-5)

static struct device devices[MAX_DEVICES];
static int device_count = 2;
static uint64_t nonce;
static _Thread_local int current;

static long setting(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text == NULL || *text == '\0' ? otherwise : atol(text);
}

__attribute__((constructor)) static void set_up(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  nonce = (uint64_t) getpid() << 40 ^ (uint64_t) now.tv_sec << 30 ^ (uint64_t) now.tv_nsec;
  device_count = (int) setting("KVTIER_EMULATOR_DEVICES", device_count);
  size_t total = (size_t) setting("KVTIER_EMULATOR_MEMORY", DEFAULT_MEMORY);
  for (int i = 0; i < MAX_DEVICES; i++) {
    devices[i].total = total;
  }
}

static void *map(size_t size, int protection, int flags, int file) {
  void *start = mmap(NULL, size, protection, flags, file, 0);
  if (start == MAP_FAILED) {
    perror("kvtier emulator: device memory");
    abort();
  }
  return start;
}

static void reserve(struct device *device) {
  device->span = device->total * SPAN_PER_MEMORY;
  device->file = kve_shared_file(device->span);
  if (device->file < 0) {
    perror("kvtier emulator: device memory");
    abort();
  }
  device->base = (uintptr_t) map(device->span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
  device->shadow = map(device->span, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, device->file);
}

struct device *kve_device(int ordinal) {
  if (ordinal < 0 || ordinal >= device_count) {
    return NULL;
  }
  struct device *device = &devices[ordinal];
  if (device->shadow == NULL) {
    reserve(device);
  }
  return device;
}

int kve_device_count(void) { return device_count; }

int kve_current_device(void) { return current; }

uint64_t kve_nonce(void) { return nonce; }

bool kve_is_device_address(uintptr_t address) {
  for (int i = 0; i < MAX_DEVICES; i++) {
    if (devices[i].shadow != NULL && address - devices[i].base < devices[i].span) {
      return true;
    }
  }
  return false;
}

void kvtier_emulator_devices(int count) {
  kve_acquire();
  device_count = count > MAX_DEVICES ? MAX_DEVICES : count;
  kve_release_lock();
}

/* ---- versions ---- */

cudaError_t cudaRuntimeGetVersion(int *version) {
  struct plan_result planned = kve_use(__func__);
  if (planned.fails) {
    return (cudaError_t) planned.code;
  }
  *version = VERSION;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version) {
  struct plan_result planned = kve_use(__func__);
  if (planned.fails) {
    return (cudaError_t) planned.code;
  }
  *version = device_count < 0 ? 0 : VERSION;
  return cudaSuccess;
}

/* There is no driver whose functions could be handed out. */
cudaError_t cudaGetDriverEntryPointByVersion(
    const char *symbol,
    void **function,
    unsigned int version,
    unsigned long long flags,
    enum cudaDriverEntryPointQueryResult *status) {
  ENTER();
  if (symbol == NULL || function == NULL || version == 0 || flags > 2) {
    return kve_leave(cudaErrorInvalidValue);
  }
  *function = NULL;
  if (status == NULL) {
    return kve_leave(cudaErrorSymbolNotFound);
  }
  *status = cudaDriverEntryPointSymbolNotFound;
  return kve_leave(cudaSuccess);
}

/* ---- questions ---- */

cudaError_t cudaGetDeviceCount(int *count) {
  ENTER();
  if (count == NULL) {
    return kve_leave(cudaErrorInvalidValue);
  }
  *count = device_count;
  return kve_leave(cudaSuccess);
}

cudaError_t cudaGetDevice(int *device) {
  ENTER();
  if (device == NULL) {
    return kve_leave(cudaErrorInvalidValue);
  }
  *device = current;
  return kve_leave(cudaSuccess);
}

cudaError_t cudaSetDevice(int device) {
  ENTER();
  if (kve_device(device) == NULL) {
    return kve_leave(cudaErrorInvalidDevice);
  }
  current = device;
  return kve_leave(cudaSuccess);
}

static cudaError_t fill(struct cudaDeviceProp *properties, int ordinal, size_t size) {
  struct device *device = kve_device(ordinal);
  if (properties == NULL) {
    return cudaErrorInvalidValue;
  }
  if (device == NULL) {
    return cudaErrorInvalidDevice;
  }
  memset(properties, 0, size);
  snprintf(properties->name, sizeof(properties->name), "kvtier emulated device %d", ordinal);
  memcpy(properties->uuid.bytes, "kvtier emulator", 15);
  properties->uuid.bytes[15] = (char) ordinal;
  properties->totalGlobalMem = device->total;
  properties->major = 9;
  properties->minor = 0;
  return cudaSuccess;
}

#if EMULATOR_MAJOR == 12
/* The old one: it fills what runtime 11 knew. Code compiled with the header of 12 never calls it. */
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device) {
  ENTER();
  kve_misuse("%s fills the old structure in runtime 12; cudaGetDeviceProperties_v2 fills the one of its header", __func__);
  return kve_leave(fill(properties, device, V1_PROPERTIES));
}

cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *properties, int device) {
  ENTER();
  return kve_leave(fill(properties, device, PROPERTIES));
}
#else
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device) {
  ENTER();
  return kve_leave(fill(properties, device, PROPERTIES));
}
#endif

bool kve_registers_read_only(int device) { return device > 0; }

static int attribute_value(enum cudaDeviceAttr attribute, int device) {
  switch (attribute) {
    case cudaDevAttrWarpSize: return 32;
    case cudaDevAttrMultiProcessorCount: return 8;
    case cudaDevAttrPciBusId: return device + 1;
    case cudaDevAttrAsyncEngineCount: return 3;
    case cudaDevAttrComputeCapabilityMajor: return 9;
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
    case cudaDevAttrHostRegisterSupported:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrGPUDirectRDMASupported: return 1;
    case cudaDevAttrHostRegisterReadOnlySupported: return kve_registers_read_only(device);
    default: return 0;
  }
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device) {
  ENTER();
  if (value == NULL || attribute < 1 || attribute > 200) {
    return kve_leave(cudaErrorInvalidValue);
  }
  if (kve_device(device) == NULL) {
    return kve_leave(cudaErrorInvalidDevice);
  }
  *value = attribute_value(attribute, device);
  return kve_leave(cudaSuccess);
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int length, int device) {
  ENTER();
  char id[16];
  int needed = snprintf(id, sizeof(id), "0000:%02x:00.0", device + 1) + 1;
  if (kve_device(device) == NULL) {
    return kve_leave(cudaErrorInvalidDevice);
  }
  if (text == NULL || length < needed) {
    return kve_leave(cudaErrorInvalidValue);
  }
  memcpy(text, id, (size_t) needed);
  return kve_leave(cudaSuccess);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
  ENTER();
  if (least != NULL) {
    *least = LEAST_PRIORITY;
  }
  if (greatest != NULL) {
    *greatest = GREATEST_PRIORITY;
  }
  return kve_leave(cudaSuccess);
}

cudaError_t cudaDeviceSynchronize(void) {
  ENTER();
  kve_drain(current);
  kve_pools_settle();
  return kve_leave(cudaSuccess);
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
  ENTER();
  struct device *device = kve_device(current);
  if (free == NULL || total == NULL) {
    return kve_leave(cudaErrorInvalidValue);
  }
  *free = device->total - device->used;
  *total = device->total;
  return kve_leave(cudaSuccess);
}

/* ---- peers ---- */

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
  ENTER();
  if (can == NULL) {
    return kve_leave(cudaErrorInvalidValue);
  }
  if (kve_device(device) == NULL || kve_device(peer) == NULL) {
    return kve_leave(cudaErrorInvalidDevice);
  }
  *can = device != peer;
  return kve_leave(cudaSuccess);
}

static cudaError_t set_peer(int peer, bool enabled) {
  struct device *device = kve_device(current);
  if (kve_device(peer) == NULL || peer == current) {
    return cudaErrorInvalidDevice;
  }
  if (device->peers[peer] == enabled) {
    return enabled ? cudaErrorPeerAccessAlreadyEnabled : cudaErrorPeerAccessNotEnabled;
  }
  device->peers[peer] = enabled;
  return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
  ENTER();
  return kve_leave(flags != 0 ? cudaErrorInvalidValue : set_peer(peer, true));
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  ENTER();
  return kve_leave(set_peer(peer, false));
}
