/* The table of all memory that the emulator knows, ordered by address, and the rules of touching it. */
#include "emulator.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define GRANULARITY 512UL
#define MAX_FILLED (16UL << 20)
#define FRESH 0xcb

static struct memory **table;
static size_t count;
static size_t room;

/* Returns the number of entries that begin at or before the address. */
static size_t up_to(uintptr_t address) {
  size_t low = 0;
  size_t high = count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (table[middle]->address <= address) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

struct memory *kve_memory_at(uintptr_t address) { return kve_memory_overlapping(address, 1); }

static struct memory *unless_gone(struct memory *memory) { return memory->gone ? NULL : memory; }

struct memory *kve_memory_overlapping(uintptr_t address, size_t size) {
  size_t index = up_to(address);
  if (index > 0 && address - table[index - 1]->address < table[index - 1]->size) {
    return unless_gone(table[index - 1]);
  }
  return index < count && table[index]->address - address < size ? unless_gone(table[index]) : NULL;
}

struct memory *kve_memory_get(size_t index) { return index < count ? table[index] : NULL; }

void kve_memory_add(struct memory *memory) {
  if (count == room) {
    room = room == 0 ? 64 : room * 2;
    table = realloc(table, room * sizeof(*table));
  }
  size_t index = up_to(memory->address);
  memmove(table + index + 1, table + index, (count - index) * sizeof(*table));
  table[index] = memory;
  count++;
}

bool kve_memory_on_device(const struct memory *memory) {
  return memory->kind == MEMORY_DEVICE || memory->kind == MEMORY_POOL || memory->kind == MEMORY_IMPORTED;
}

const char *kve_memory_name(const struct memory *memory) {
  static const char *const NAMES[] = {
      "device memory", "device memory of a pool", "imported device memory", "pinned memory", "registered memory"};
  static char text[160];
  snprintf(
      text, sizeof(text), "%s %#lx of %zu bytes on device %d", NAMES[memory->kind], memory->address, memory->size,
      memory->device);
  return text;
}

void kve_check_unused(const struct memory *memory, const char *function) {
  const struct work *pending = kve_pending_use(memory, NULL);
  /* With the context, all work ended. */
  if (kve_lost() == cudaSuccess && (pending != NULL || memory->users > 0)) {
    kve_misuse("%s: %s is used by pending %s", function, kve_memory_name(memory), pending == NULL ? "I/O" : pending->name);
  }
  if (memory->buffers > 0) {
    kve_misuse("%s: %s is still registered with cuFile", function, kve_memory_name(memory));
  }
}

/* ---- life ---- */

static void give_back(struct memory *memory) {
  struct device *device = kve_device(memory->device);
  switch (memory->kind) {
    case MEMORY_DEVICE:
    case MEMORY_POOL:
      fallocate(
          device->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, memory->shadow - device->shadow, (off_t) memory->extent);
      break;
    case MEMORY_IMPORTED:
      munmap((void *) memory->address, memory->extent);
      munmap(memory->shadow, memory->extent);
      break;
    case MEMORY_PINNED: munmap(memory->shadow, memory->extent); break;
    case MEMORY_REGISTERED: break;
  }
  free(memory);
}

static void take_out(struct memory *memory) {
  size_t index = up_to(memory->address) - 1;
  while (table[index] != memory) {
    index--;
  }
  memmove(table + index, table + index + 1, (count - index - 1) * sizeof(*table));
  count--;
  give_back(memory);
}

void kve_memory_remove(struct memory *memory) {
  memory->gone = true;
  if (memory->users == 0) {
    take_out(memory);
  }
}

void kve_memory_use(struct memory *memory) { memory->users++; }

void kve_memory_unuse(struct memory *memory) {
  if (--memory->users == 0 && memory->gone) {
    take_out(memory);
  }
}

/* Returns the first gap between a device's allocations that is large enough, or 0. */
static uintptr_t find_gap(const struct device *device, size_t extent) {
  uintptr_t start = device->base;
  for (size_t i = up_to(device->base - 1); i < count && table[i]->address < device->base + device->span; i++) {
    if (table[i]->address - start >= extent) {
      return start;
    }
    start = table[i]->address + table[i]->extent;
  }
  return device->base + device->span - start >= extent ? start : 0;
}

struct memory *kve_device_allocate(int ordinal, size_t size, enum memory_kind kind) {
  struct device *device = kve_device(ordinal);
  if (size > device->span) {
    return NULL;
  }
  /* Whole pages, so that memory can be shared and given back; a page more, so that nothing follows at once. */
  size_t extent = ((size + 4095) & ~4095UL) + 4096;
  uintptr_t address = find_gap(device, extent);
  if (address == 0) {
    return NULL;
  }
  struct memory *memory = calloc(1, sizeof(*memory));
  memory->kind = kind;
  memory->address = address;
  memory->size = size;
  memory->extent = extent;
  memory->shadow = device->shadow + (address - device->base);
  memory->device = ordinal;
  memory->origin = (struct memory_origin){kve_nonce(), ordinal, address - device->base};
  memset(memory->shadow, FRESH, size < MAX_FILLED ? size : MAX_FILLED);
  kve_memory_add(memory);
  return memory;
}

/* ---- touching ---- */

static bool refuse(const char *function, const void *pointer, size_t size, const char *reason) {
  kve_misuse("%s: %p with %zu bytes %s", function, pointer, size, reason);
  return false;
}

static bool check_order(const char *function, const struct stream *stream, const struct memory *memory) {
  if (memory->freeing) {
    kve_misuse("%s uses %s, which a stream frees", function, kve_memory_name(memory));
    return false;
  }
  if (memory->kind == MEMORY_POOL && stream != NULL && !kve_ordered(stream, memory->born)) {
    kve_misuse("%s uses %s before the stream that allocates it got there", function, kve_memory_name(memory));
  }
  return true;
}

bool kve_range(
    const char *function,
    const struct stream *stream,
    const void *pointer,
    size_t size,
    struct memory **memory,
    char **touchable) {
  uintptr_t address = (uintptr_t) pointer;
  struct memory *found = kve_memory_at(address);
  *memory = found;
  if (found == NULL) {
    *touchable = (char *) address;
    if (pointer == NULL) {
      return refuse(function, pointer, size, "is NULL");
    }
    if (kve_is_device_address(address)) {
      return refuse(function, pointer, size, "is device memory that is not allocated");
    }
    return kve_memory_overlapping(address, size) == NULL
           || refuse(function, pointer, size, "begins before registered memory and reaches into it");
  }
  if (size > found->size - (address - found->address)) {
    kve_misuse("%s: %p with %zu bytes leaves %s", function, pointer, size, kve_memory_name(found));
    return false;
  }
  if (!check_order(function, stream, found)) {
    return false;
  }
  if (stream != NULL && found->kind == MEMORY_POOL && !kve_pool_accessible(found->pool, stream->device)) {
    kve_misuse("%s: device %d has no access to %s", function, stream->device, kve_memory_name(found));
    return false;
  }
  *touchable = found->shadow + (address - found->address);
  return true;
}

static void *touchable_for_test(const char *function, unsigned long address, unsigned long size) {
  struct memory *memory;
  char *touchable;
  return kve_range(function, NULL, (void *) address, size, &memory, &touchable) ? touchable : NULL;
}

void kvtier_emulator_peek(unsigned long device_address, void *host, unsigned long size) {
  kve_acquire();
  void *from = touchable_for_test(__func__, device_address, size);
  if (from != NULL) {
    memcpy(host, from, size);
  }
  kve_release_lock();
}

void kvtier_emulator_poke(unsigned long device_address, const void *host, unsigned long size) {
  kve_acquire();
  void *to = touchable_for_test(__func__, device_address, size);
  if (to != NULL) {
    memcpy(to, host, size);
  }
  kve_release_lock();
}
