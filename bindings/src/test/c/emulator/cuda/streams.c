/*
 * Streams. Each has a thread that executes its work in order. A stream owns a slot; a piece of work is known by its slot and its
 * number there, and slots count on when streams come and go, so that such a point can be asked for at any time. A stream's clock
 * says up to which point of every other slot its next work is ordered behind it: that is how missing waits are found.
 */
#include "emulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_PRIORITY 0
#define GREATEST_PRIORITY (-5)
#define LEGACY_HANDLE 1

static unsigned long issued[MAX_STREAMS];
static unsigned long completed[MAX_STREAMS];
static struct stream *streams[MAX_STREAMS];
static bool held;

/* ---- work ---- */

struct work *kve_work(const char *name, void (*run)(struct work *), size_t data_size) {
  struct work *work = calloc(1, sizeof(*work));
  work->name = name;
  work->run = run;
  work->data = data_size == 0 ? NULL : calloc(1, data_size);
  return work;
}

void kve_work_uses(struct work *work, struct memory *memory) {
  if (memory == NULL) {
    return;
  }
  if (work->memory_count == work->memory_room) {
    work->memory_room = work->memory_room * 2 + 4;
    work->memory = realloc(work->memory, (size_t) work->memory_room * sizeof(*work->memory));
  }
  work->memory[work->memory_count++] = memory;
  kve_memory_use(memory);
}

void kve_work_after(struct work *work, struct point point) {
  work->after = realloc(work->after, (size_t) (work->after_count + 1) * sizeof(*work->after));
  work->after[work->after_count++] = point;
}

bool kve_reached(struct point point) { return completed[point.slot] >= point.sequence; }

bool kve_ordered(const struct stream *stream, struct point point) {
  return kve_reached(point) || stream->clock[point.slot] >= point.sequence;
}

struct point kve_stream_end(const struct stream *stream) { return (struct point){stream->slot, issued[stream->slot]}; }

bool kve_stream_pending(const struct stream *stream, const char *prefix) {
  for (const struct work *work = stream->first; work != NULL; work = work->next) {
    if (strncmp(work->name, prefix, strlen(prefix)) == 0) {
      return true;
    }
  }
  return false;
}

/* The NULL stream waits for all blocking streams of its device, and they for it. */
static void order_with_legacy(struct stream *stream, struct work *work) {
  for (int i = 0; i < MAX_STREAMS; i++) {
    struct stream *other = streams[i];
    if (other != NULL && other != stream && other->device == stream->device && other->blocking && stream->blocking
        && (other->legacy || stream->legacy)) {
      struct point end = kve_stream_end(other);
      kve_work_after(work, end);
      stream->clock[end.slot] = end.sequence;
    }
  }
}

struct point kve_submit(struct stream *stream, struct work *work) {
  order_with_legacy(stream, work);
  work->stream = stream;
  work->at = (struct point){stream->slot, ++issued[stream->slot]};
  stream->clock[stream->slot] = work->at.sequence;
  if (stream->first == NULL) {
    stream->first = work;
  } else {
    stream->last->next = work;
  }
  stream->last = work;
  pthread_cond_signal(&stream->wake);
  return work->at;
}

void kve_wait(struct point point) {
  while (!kve_reached(point)) {
    pthread_cond_wait(&kve_progress, &kve_lock);
  }
}

/* ---- executing ---- */

static bool may_run(const struct work *work) {
  for (int i = 0; i < work->after_count; i++) {
    if (!kve_reached(work->after[i])) {
      return false;
    }
  }
  return !held;
}

static void finish(struct work *work) {
  if (work->done != NULL) {
    work->done(work);
  }
  for (int i = 0; i < work->memory_count; i++) {
    kve_memory_unuse(work->memory[i]);
  }
  completed[work->at.slot] = work->at.sequence;
  free(work->memory);
  free(work->after);
  free(work->data);
  free(work);
  pthread_cond_broadcast(&kve_progress);
}

/* Runs without the lock. */
static void run(struct work *work) {
  char name[64];
  snprintf(name, sizeof(name), "%s@stream", work->name);
  struct plan_result planned = kve_use(name);
  kve_acquire();
  work->planned = planned;
  bool fatal = planned.fails && !work->takes_plan;
  if (fatal) {
    kve_lose_context((cudaError_t) planned.code);
  }
  bool skipped = fatal || work->cancelled || kve_lost() != cudaSuccess;
  kve_release_lock();
  if (!skipped) {
    work->run(work);
  }
}

static void *serve(void *argument) {
  struct stream *stream = argument;
  kve_acquire();
  for (;;) {
    while (stream->first == NULL && !stream->destroyed) {
      pthread_cond_wait(&stream->wake, &kve_lock);
    }
    struct work *work = stream->first;
    if (work == NULL) {
      break;
    }
    while (!may_run(work)) {
      pthread_cond_wait(&kve_progress, &kve_lock);
    }
    stream->running = work;
    kve_release_lock();
    run(work);
    kve_acquire();
    stream->running = NULL;
    stream->first = work->next;
    finish(work);
  }
  streams[stream->slot] = NULL;
  pthread_cond_destroy(&stream->wake);
  free(stream);
  kve_release_lock();
  return NULL;
}

void kvtier_emulator_hold_streams(int hold) {
  kve_acquire();
  held = hold != 0;
  pthread_cond_broadcast(&kve_progress);
  kve_release_lock();
}

bool kve_held(void) { return held; }

/* Called by kvtier_emulator_reset. Locked. */
void kve_let_go(void) {
  held = false;
  pthread_cond_broadcast(&kve_progress);
}

/* ---- looking ---- */

static bool uses(const struct work *work, const struct memory *memory) {
  for (int i = 0; i < work->memory_count; i++) {
    if (work->memory[i] == memory) {
      return true;
    }
  }
  return false;
}

const struct work *kve_pending_use(const struct memory *memory, const struct stream *stream) {
  for (int i = 0; i < MAX_STREAMS && memory->users > 0; i++) {
    for (struct work *work = streams[i] == NULL ? NULL : streams[i]->first; work != NULL; work = work->next) {
      if (uses(work, memory) && (stream == NULL || !kve_ordered(stream, work->at))) {
        return work;
      }
    }
  }
  return NULL;
}

void kve_cancel_uses(const struct memory *memory) {
  for (int i = 0; i < MAX_STREAMS && memory->users > 0; i++) {
    for (struct work *work = streams[i] == NULL ? NULL : streams[i]->first; work != NULL; work = work->next) {
      work->cancelled = work->cancelled || uses(work, memory);
    }
  }
  for (int i = 0; i < MAX_STREAMS; i++) {
    while (streams[i] != NULL && streams[i]->running != NULL && uses(streams[i]->running, memory)) {
      pthread_cond_wait(&kve_progress, &kve_lock);
    }
  }
}

void kve_drain(int device) {
  for (int i = 0; i < MAX_STREAMS; i++) {
    if (streams[i] != NULL && streams[i]->device == device) {
      kve_wait(kve_stream_end(streams[i]));
    }
  }
}

/* ---- creating ---- */

static struct stream *start(int device, bool blocking) {
  int slot = 0;
  while (slot < MAX_STREAMS && streams[slot] != NULL) {
    slot++;
  }
  if (slot == MAX_STREAMS) {
    return NULL;
  }
  struct stream *stream = calloc(1, sizeof(*stream));
  stream->slot = slot;
  stream->device = device;
  stream->blocking = blocking;
  pthread_cond_init(&stream->wake, NULL);
  pthread_t thread;
  if (pthread_create(&thread, NULL, serve, stream) != 0) {
    free(stream);
    return NULL;
  }
  pthread_detach(thread);
  streams[slot] = stream;
  return stream;
}

static struct stream *legacy(int device) {
  for (int i = 0; i < MAX_STREAMS; i++) {
    if (streams[i] != NULL && streams[i]->legacy && streams[i]->device == device) {
      return streams[i];
    }
  }
  struct stream *stream = start(device, true);
  if (stream != NULL) {
    stream->legacy = true;
  }
  return stream;
}

struct stream *kve_stream(cudaStream_t handle, const char *function) {
  if ((uintptr_t) handle <= LEGACY_HANDLE) {
    kve_note("%s uses the NULL stream", function);
    return legacy(kve_current_device());
  }
  return kve_handle(HANDLE_STREAM, (uintptr_t) handle, function);
}

static cudaError_t create(cudaStream_t *handle, unsigned int flags, int priority) {
  if (handle == NULL || flags > cudaStreamNonBlocking) {
    return cudaErrorInvalidValue;
  }
  int device = kve_current_device();
  struct stream *stream = start(device, flags == cudaStreamDefault);
  if (stream == NULL) {
    return cudaErrorMemoryAllocation;
  }
  stream->priority = priority > LEAST_PRIORITY ? LEAST_PRIORITY : priority < GREATEST_PRIORITY ? GREATEST_PRIORITY : priority;
  stream->handle = (cudaStream_t) kve_handle_open(HANDLE_STREAM, stream, "of device %d", device);
  *handle = stream->handle;
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags) {
  ENTER();
  return kve_leave(create(stream, flags, LEAST_PRIORITY));
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority) {
  ENTER();
  return kve_leave(create(stream, flags, priority));
}

/* What the stream still has to do, it does. */
cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  ENTER_TO_RELEASE();
  struct stream *stream = kve_handle(HANDLE_STREAM, (uintptr_t) handle, __func__);
  if (stream == NULL) {
    LEAVE_RELEASED(cudaErrorInvalidResourceHandle);
  }
  if (stream->file_handle != 0) {
    kve_misuse("%s: the stream is still registered with cuFile", __func__);
  }
  kve_handle_close((uintptr_t) handle);
  stream->destroyed = true;
  pthread_cond_signal(&stream->wake);
  LEAVE_RELEASED(cudaSuccess);
}

/* ---- waiting ---- */

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  ENTER();
  struct stream *stream = kve_stream(handle, __func__);
  if (stream == NULL) {
    return kve_leave(cudaErrorInvalidResourceHandle);
  }
  kve_wait(kve_stream_end(stream));
  kve_pools_settle();
  return kve_leave(cudaSuccess);
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  ENTER();
  struct stream *stream = kve_stream(handle, __func__);
  if (stream == NULL) {
    return kve_leave(cudaErrorInvalidResourceHandle);
  }
  return kve_leave(kve_reached(kve_stream_end(stream)) ? cudaSuccess : cudaErrorNotReady);
}

struct callback {
  cudaHostFn_t function;
  void *user_data;
};

static void call(struct work *work) {
  struct callback *callback = work->data;
  kve_in_host_function = true;
  callback->function(callback->user_data);
  kve_in_host_function = false;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void *user_data) {
  ENTER();
  struct stream *stream = kve_stream(handle, __func__);
  if (stream == NULL) {
    return kve_leave(cudaErrorInvalidResourceHandle);
  }
  if (function == NULL) {
    return kve_leave(cudaErrorInvalidValue);
  }
  struct work *work = kve_work(__func__, call, sizeof(struct callback));
  *(struct callback *) work->data = (struct callback){function, user_data};
  kve_submit(stream, work);
  return kve_leave(cudaSuccess);
}
