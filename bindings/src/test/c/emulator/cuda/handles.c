/* The table of handles. A handle is kind, generation and slot; no slot's number is given out twice. */
#include "emulator.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LABEL_SIZE 160

struct slot {
  void *object;
  enum handle_kind kind;
  uint32_t generation;
  char label[LABEL_SIZE];
};

static struct slot *slots;
static size_t slot_count;

static const char *kind_name(enum handle_kind kind) {
  switch (kind) {
    case HANDLE_STREAM: return "stream";
    case HANDLE_EVENT: return "event";
    case HANDLE_POOL: return "memory pool";
    case HANDLE_FILE: return "registered file";
    case HANDLE_BATCH: return "batch";
    case HANDLE_BUFFER: return "registered buffer";
    default: return "registered stream";
  }
}

static struct slot *free_slot(void) {
  for (size_t i = 0; i < slot_count; i++) {
    if (slots[i].object == NULL) {
      return &slots[i];
    }
  }
  slots = realloc(slots, (slot_count + 64) * sizeof(struct slot));
  memset(slots + slot_count, 0, 64 * sizeof(struct slot));
  slot_count += 64;
  return &slots[slot_count - 64];
}

uintptr_t kve_handle_open(enum handle_kind kind, void *object, const char *label, ...) {
  struct slot *slot = free_slot();
  slot->object = object;
  slot->kind = kind;
  slot->generation++;
  va_list arguments;
  va_start(arguments, label);
  vsnprintf(slot->label, LABEL_SIZE, label, arguments);
  va_end(arguments);
  return (uintptr_t) kind << 56 | (uintptr_t) slot->generation << 24 | (uintptr_t) (slot - slots + 1);
}

static struct slot *slot_of(uintptr_t handle) {
  size_t index = handle & 0xffffff;
  return index == 0 || index > slot_count ? NULL : &slots[index - 1];
}

static bool is_live(const struct slot *slot, uintptr_t handle) {
  return slot != NULL && slot->object != NULL && slot->generation == (uint32_t) (handle >> 24) && slot->kind == handle >> 56;
}

void *kve_handle_quietly(enum handle_kind kind, uintptr_t handle) {
  struct slot *slot = slot_of(handle);
  return is_live(slot, handle) && slot->kind == kind ? slot->object : NULL;
}

void *kve_handle(enum handle_kind kind, uintptr_t handle, const char *function) {
  void *object = kve_handle_quietly(kind, handle);
  if (object != NULL) {
    return object;
  }
  struct slot *slot = slot_of(handle);
  bool stale = handle >> 56 == kind && slot != NULL && slot->generation >= (uint32_t) (handle >> 24);
  kve_misuse("%s: %#lx is no %s%s", function, handle, kind_name(kind), stale ? " any more" : "");
  return NULL;
}

void kve_handle_close(uintptr_t handle) { slot_of(handle)->object = NULL; }

void kve_handles_of(enum handle_kind kind, void (*visit)(void *object, void *context), void *context) {
  for (size_t i = 0; i < slot_count; i++) {
    if (slots[i].object != NULL && slots[i].kind == kind) {
      visit(slots[i].object, context);
    }
  }
}

/* Writes one line per live handle; returns their number. Locked. */
long kve_list_handles(void (*line)(void *context, const char *text), void *context) {
  long live = 0;
  for (size_t i = 0; i < slot_count; i++) {
    if (slots[i].object != NULL) {
      char text[LABEL_SIZE + 32];
      snprintf(text, sizeof(text), "live: %s %s", kind_name(slots[i].kind), slots[i].label);
      line(context, text);
      live++;
    }
  }
  return live;
}
