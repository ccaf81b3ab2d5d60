/*
 * Copies and fills. Pageable host memory is read when the call is made (it is staged), and a copy into it ends before the call
 * returns; with pinned memory all happens in the stream.
 */
#include "copies.h"

#include <stdlib.h>
#include <string.h>

#define INVALID_PITCH ((cudaError_t) 12)

static void copy_piece(const struct piece *piece) {
  for (size_t z = 0; z < piece->depth; z++) {
    for (size_t y = 0; y < piece->height; y++) {
      char *to = piece->to + z * piece->to_slice + y * piece->to_pitch;
      const char *from = piece->from + z * piece->from_slice + y * piece->from_pitch;
      memmove(to, from, piece->width);
    }
  }
}

void kve_copy_run(struct work *work) {
  struct copy *copy = work->data;
  for (size_t i = 0; i < copy->count; i++) {
    copy_piece(&copy->pieces[i]);
  }
}

static void free_staging(struct work *work) {
  struct copy *copy = work->data;
  for (size_t i = 0; i < copy->count; i++) {
    free(copy->pieces[i].staging);
  }
}

struct work *kve_copy_work(const char *function, size_t count) {
  struct work *work = kve_work(function, kve_copy_run, sizeof(struct copy) + count * sizeof(struct piece));
  work->done = free_staging;
  return work;
}

void kve_copy_drop(struct work *work) {
  free_staging(work);
  for (int i = 0; i < work->memory_count; i++) {
    kve_memory_unuse(work->memory[i]);
  }
  free(work->memory);
  free(work->data);
  free(work);
}

/* ---- one piece ---- */

static size_t reach(const struct piece *piece, size_t pitch, size_t slice) {
  return (piece->depth - 1) * slice + (piece->height - 1) * pitch + piece->width;
}

/* Copies the source to where only the emulator knows it. */
static void stage(struct piece *piece) {
  size_t size = reach(piece, piece->from_pitch, piece->from_slice);
  piece->staging = malloc(size);
  memcpy(piece->staging, piece->from, size);
  piece->from = piece->staging;
}

static bool is_on_device(const struct memory *memory) { return memory != NULL && kve_memory_on_device(memory); }

static bool fits_kind(enum memcpy_side side, enum cudaMemcpyKind kind, const struct memory *memory) {
  if (kind == cudaMemcpyDefault) {
    return true;
  }
  bool wants_device = side == SIDE_TO ? kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice
                                      : kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  /* Pinned memory has a device address, which is the same. */
  return wants_device ? memory != NULL : !is_on_device(memory);
}

cudaError_t kve_copy_add(
    struct work *work, const struct stream *stream, struct piece piece, enum cudaMemcpyKind kind, enum staging staging) {
  struct copy *copy = work->data;
  struct memory *to;
  struct memory *from;
  char *touchable;
  if (!kve_range(work->name, stream, piece.to, reach(&piece, piece.to_pitch, piece.to_slice), &to, &piece.to)
      || !kve_range(work->name, stream, piece.from, reach(&piece, piece.from_pitch, piece.from_slice), &from, &touchable)) {
    return cudaErrorInvalidValue;
  }
  piece.from = touchable;
  if (to != NULL && to->kind == MEMORY_REGISTERED && (to->flags & cudaHostRegisterReadOnly) != 0) {
    kve_misuse("%s: the target may only be read by devices", work->name);
    return cudaErrorInvalidValue;
  }
  if (!fits_kind(SIDE_TO, kind, to) || !fits_kind(SIDE_FROM, kind, from)) {
    kve_misuse("%s: the copy is not of kind %d", work->name, (int) kind);
    return cudaErrorInvalidValue;
  }
  if (staging == STAGE_ALWAYS || (staging == STAGE_PAGEABLE && from == NULL)) {
    stage(&piece);
  }
  copy->synchronous |= to == NULL;
  copy->pieces[copy->count++] = piece;
  kve_work_uses(work, to);
  kve_work_uses(work, from);
  return cudaSuccess;
}

void kve_copy_submit(struct stream *stream, struct work *work) {
  bool synchronous = ((struct copy *) work->data)->synchronous;
  if (synchronous) {
    kve_note("%s into pageable memory waits for its stream", work->name);
  }
  struct point at = kve_submit(stream, work);
  if (synchronous) {
    kve_wait(at);
  }
}

cudaError_t kve_copy_one(const char *function, cudaStream_t handle, struct piece piece, enum cudaMemcpyKind kind) {
  struct stream *stream = kve_stream(handle, function);
  if (stream == NULL) {
    return cudaErrorInvalidResourceHandle;
  }
  if ((unsigned int) kind > cudaMemcpyDefault) {
    return cudaErrorInvalidMemcpyDirection;
  }
  if (piece.width == 0 || piece.height == 0 || piece.depth == 0) {
    return cudaSuccess;
  }
  struct work *work = kve_copy_work(function, 1);
  cudaError_t status = kve_copy_add(work, stream, piece, kind, STAGE_PAGEABLE);
  if (status != cudaSuccess) {
    kve_copy_drop(work);
    return status;
  }
  kve_copy_submit(stream, work);
  return cudaSuccess;
}

/* ---- the calls ---- */

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, enum cudaMemcpyKind kind, cudaStream_t stream) {
  ENTER();
  return kve_leave(kve_copy_one(__func__, stream, kve_line(to, from, size), kind));
}

cudaError_t cudaMemcpy2DAsync(
    void *to,
    size_t to_pitch,
    const void *from,
    size_t from_pitch,
    size_t width,
    size_t height,
    enum cudaMemcpyKind kind,
    cudaStream_t stream) {
  ENTER();
  if (width > to_pitch || width > from_pitch) {
    return kve_leave(INVALID_PITCH);
  }
  struct piece piece = {
      .to = to, .from = from, .width = width, .height = height, .depth = 1, .to_pitch = to_pitch, .from_pitch = from_pitch};
  return kve_leave(kve_copy_one(__func__, stream, piece, kind));
}

static size_t start_of(const struct cudaPitchedPtr *pointer, const struct cudaPos *position) {
  return position->z * pointer->pitch * pointer->ysize + position->y * pointer->pitch + position->x;
}

static cudaError_t copy_3d(const struct cudaMemcpy3DParms *copy, cudaStream_t stream) {
  if (copy == NULL || copy->srcArray != NULL || copy->dstArray != NULL || copy->srcPtr.ptr == NULL || copy->dstPtr.ptr == NULL) {
    return cudaErrorInvalidValue;
  }
  if (copy->extent.width + copy->srcPos.x > copy->srcPtr.pitch || copy->extent.width + copy->dstPos.x > copy->dstPtr.pitch) {
    return INVALID_PITCH;
  }
  if (copy->extent.depth > 1 && (copy->extent.height > copy->srcPtr.ysize || copy->extent.height > copy->dstPtr.ysize)) {
    return cudaErrorInvalidValue;
  }
  struct piece piece = {
      .to = (char *) copy->dstPtr.ptr + start_of(&copy->dstPtr, &copy->dstPos),
      .from = (const char *) copy->srcPtr.ptr + start_of(&copy->srcPtr, &copy->srcPos),
      .width = copy->extent.width,
      .height = copy->extent.height,
      .depth = copy->extent.depth,
      .to_pitch = copy->dstPtr.pitch,
      .from_pitch = copy->srcPtr.pitch,
      .to_slice = copy->dstPtr.pitch * copy->dstPtr.ysize,
      .from_slice = copy->srcPtr.pitch * copy->srcPtr.ysize};
  return kve_copy_one("cudaMemcpy3DAsync", stream, piece, copy->kind);
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *copy, cudaStream_t stream) {
  ENTER();
  return kve_leave(copy_3d(copy, stream));
}

static bool lies_on(const void *pointer, int device) {
  struct memory *memory = kve_memory_at((uintptr_t) pointer);
  if (memory != NULL && kve_memory_on_device(memory) && memory->device == device) {
    return true;
  }
  kve_misuse("cudaMemcpyPeerAsync: %p is no memory of device %d", pointer, device);
  return false;
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t size, cudaStream_t stream) {
  ENTER();
  if (kve_device(to_device) == NULL || kve_device(from_device) == NULL) {
    return kve_leave(cudaErrorInvalidDevice);
  }
  if (size > 0 && (!lies_on(to, to_device) || !lies_on(from, from_device))) {
    return kve_leave(cudaErrorInvalidValue);
  }
  return kve_leave(kve_copy_one(__func__, stream, kve_line(to, from, size), cudaMemcpyDeviceToDevice));
}

/* ---- filling ---- */

struct fill {
  char *to;
  size_t size;
  int value;
};

static void fill_run(struct work *work) {
  struct fill *fill = work->data;
  memset(fill->to, fill->value, fill->size);
}

static cudaError_t fill(void *pointer, int value, size_t size, cudaStream_t handle) {
  struct stream *stream = kve_stream(handle, "cudaMemsetAsync");
  if (stream == NULL) {
    return cudaErrorInvalidResourceHandle;
  }
  if (size == 0) {
    return cudaSuccess;
  }
  struct memory *memory;
  char *to;
  if (!kve_range("cudaMemsetAsync", stream, pointer, size, &memory, &to)) {
    return cudaErrorInvalidValue;
  }
  if (memory == NULL) {
    kve_misuse("cudaMemsetAsync: %p is neither device nor pinned memory", pointer);
    return cudaErrorInvalidValue;
  }
  struct work *work = kve_work("cudaMemsetAsync", fill_run, sizeof(struct fill));
  *(struct fill *) work->data = (struct fill){to, size, value};
  kve_work_uses(work, memory);
  kve_submit(stream, work);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *pointer, int value, size_t size, cudaStream_t stream) {
  ENTER();
  return kve_leave(fill(pointer, value, size, stream));
}
