/* Memory that other processes open. */
#include "sharing.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#define MAGIC 0x6b76656d756c6174UL

struct handle {
  uint64_t magic;
  uint64_t nonce;
  int pid;
  int major;
  struct ticket ticket;
};

_Static_assert(sizeof(struct handle) <= 64, "a handle has 64 bytes");

static void file_name(char *name, size_t size, uint64_t nonce) { snprintf(name, size, "kvtier-emulator-%lx", nonce); }

int kve_shared_file(size_t size) {
  char name[64];
  file_name(name, sizeof(name), kve_nonce());
  int file = memfd_create(name, MFD_CLOEXEC);
  if (file >= 0 && ftruncate(file, (off_t) size) != 0) {
    close(file);
    return -1;
  }
  return file;
}

void kve_ticket_write(char *bytes, const struct ticket *ticket) {
  struct handle handle = {MAGIC, kve_nonce(), getpid(), EMULATOR_MAJOR, *ticket};
  memset(bytes, 0, 64);
  memcpy(bytes, &handle, sizeof(handle));
}

/* Returns true if the file is one that the process with this nonce made. */
static bool is_of(const char *path, uint64_t nonce) {
  char name[64];
  char link[128];
  file_name(name, sizeof(name), nonce);
  ssize_t length = readlink(path, link, sizeof(link) - 1);
  if (length < 0) {
    return false;
  }
  link[length] = '\0';
  return strstr(link, name) != NULL;
}

cudaError_t kve_ticket_open(const char *bytes, enum ticket_kind kind, struct ticket *ticket, int *file) {
  struct handle handle;
  memcpy(&handle, bytes, sizeof(handle));
  if (handle.magic != MAGIC || handle.ticket.kind != (int) kind || handle.major != EMULATOR_MAJOR) {
    return cudaErrorInvalidValue;
  }
  if (handle.nonce == kve_nonce()) {
    return cudaErrorDeviceUninitialized;
  }
  char path[64];
  snprintf(path, sizeof(path), "/proc/%d/fd/%d", handle.pid, handle.ticket.file);
  *file = is_of(path, handle.nonce) ? open(path, O_RDWR | O_CLOEXEC) : -1;
  *ticket = handle.ticket;
  return *file < 0 ? cudaErrorInvalidResourceHandle : cudaSuccess;
}

/* ---- memory ---- */

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *pointer) {
  ENTER();
  struct memory *memory = kve_memory_at((uintptr_t) pointer);
  if (handle == NULL || memory == NULL || memory->kind != MEMORY_DEVICE) {
    return kve_leave(cudaErrorInvalidValue);
  }
  struct device *device = kve_device(memory->device);
  size_t offset = memory->address - device->base;
  kve_ticket_write(handle->reserved, &(struct ticket){TICKET_MEMORY, device->file, memory->device, offset, memory->size});
  return kve_leave(cudaSuccess);
}

static struct memory *already_open(uint64_t nonce, const struct ticket *ticket) {
  struct memory *memory;
  for (size_t i = 0; (memory = kve_memory_get(i)) != NULL; i++) {
    if (memory->kind == MEMORY_IMPORTED && !memory->gone && memory->origin.nonce == nonce
        && memory->origin.device == ticket->device && memory->origin.offset == ticket->offset) {
      return memory;
    }
  }
  return NULL;
}

static struct memory *import(uint64_t nonce, const struct ticket *ticket, int file) {
  size_t extent = (ticket->size + 4095) & ~4095UL;
  void *shadow = mmap(NULL, extent, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t) ticket->offset);
  void *address = mmap(NULL, extent, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (shadow == MAP_FAILED || address == MAP_FAILED) {
    return NULL;
  }
  struct memory *memory = calloc(1, sizeof(*memory));
  memory->kind = MEMORY_IMPORTED;
  memory->address = (uintptr_t) address;
  memory->size = ticket->size;
  memory->extent = extent;
  memory->shadow = shadow;
  memory->device = ticket->device;
  memory->origin = (struct memory_origin){nonce, ticket->device, ticket->offset};
  kve_memory_add(memory);
  return memory;
}

static cudaError_t open_memory(void **pointer, const cudaIpcMemHandle_t *handle, unsigned int flags) {
  if (pointer == NULL || flags != cudaIpcMemLazyEnablePeerAccess) {
    return cudaErrorInvalidValue;
  }
  struct ticket ticket;
  int file;
  cudaError_t status = kve_ticket_open(handle->reserved, TICKET_MEMORY, &ticket, &file);
  if (status != cudaSuccess) {
    return status;
  }
  struct handle sent;
  memcpy(&sent, handle->reserved, sizeof(sent));
  struct memory *memory = already_open(sent.nonce, &ticket);
  if (memory == NULL) {
    memory = kve_device(ticket.device) == NULL ? NULL : import(sent.nonce, &ticket, file);
  }
  close(file);
  if (memory == NULL) {
    return cudaErrorMemoryAllocation;
  }
  memory->opened++;
  *pointer = (void *) memory->address;
  return cudaSuccess;
}

cudaError_t cudaIpcOpenMemHandle(void **pointer, cudaIpcMemHandle_t handle, unsigned int flags) {
  ENTER();
  return kve_leave(open_memory(pointer, &handle, flags));
}

cudaError_t cudaIpcCloseMemHandle(void *pointer) {
  ENTER_TO_RELEASE();
  struct memory *memory = kve_memory_at((uintptr_t) pointer);
  if (memory == NULL || memory->kind != MEMORY_IMPORTED || memory->address != (uintptr_t) pointer) {
    kve_misuse("%s: %p was not opened by a handle", __func__, pointer);
    LEAVE_RELEASED(cudaErrorInvalidValue);
  }
  if (--memory->opened > 0) {
    LEAVE_RELEASED(cudaSuccess);
  }
  kve_check_unused(memory, __func__);
  kve_memory_remove(memory);
  LEAVE_RELEASED(cudaSuccess);
}
