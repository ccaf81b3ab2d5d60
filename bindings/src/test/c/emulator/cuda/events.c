/*
 * Events. An event is the point of its last record. One that other processes may wait for has its state in a file in memory as
 * well, where records and completions are counted.
 */
#include "emulator.h"
#include "sharing.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define KNOWN_FLAGS (cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess)
#define POLL_NANOSECONDS 200000L

struct shared_event {
  atomic_ulong recorded;
  atomic_ulong completed;
};

struct event {
  cudaEvent_t handle;
  int device;
  unsigned int flags;
  bool recorded;
  struct point at;
  int64_t time;
  unsigned long clock[MAX_STREAMS];
  struct shared_event *shared;
  int file;
  bool imported;
};

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000L + time.tv_nsec;
}

static struct event *event_of(cudaEvent_t handle, const char *function) {
  return kve_handle(HANDLE_EVENT, (uintptr_t) handle, function);
}

static bool is_done(const struct event *event) {
  if (event->shared != NULL) {
    return atomic_load(&event->shared->completed) >= atomic_load(&event->shared->recorded);
  }
  return !event->recorded || kve_reached(event->at);
}

/* ---- life ---- */

static struct event *open_event(unsigned int flags, int file) {
  struct event *event = calloc(1, sizeof(*event));
  event->device = kve_current_device();
  event->flags = flags;
  event->file = file;
  if (file >= 0) {
    event->shared = mmap(NULL, sizeof(*event->shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  event->handle = (cudaEvent_t) kve_handle_open(HANDLE_EVENT, event, "of device %d", event->device);
  return event;
}

static cudaError_t create(cudaEvent_t *handle, unsigned int flags) {
  if (handle == NULL || (flags & ~(unsigned int) KNOWN_FLAGS) != 0) {
    return cudaErrorInvalidValue;
  }
  int file = -1;
  if (flags & cudaEventInterprocess) {
    if ((flags & cudaEventDisableTiming) == 0) {
      return cudaErrorInvalidValue;
    }
    file = kve_shared_file(sizeof(struct shared_event));
    if (file < 0) {
      return cudaErrorOperatingSystem;
    }
  }
  *handle = open_event(flags, file)->handle;
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags) {
  ENTER();
  return kve_leave(create(event, flags));
}

/* Pending records and waits go on without it. */
cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  ENTER_TO_RELEASE();
  struct event *event = event_of(handle, __func__);
  if (event == NULL) {
    LEAVE_RELEASED(cudaErrorInvalidResourceHandle);
  }
  kve_handle_close((uintptr_t) handle);
  if (event->shared != NULL) {
    munmap(event->shared, sizeof(*event->shared));
    close(event->file);
  }
  free(event);
  LEAVE_RELEASED(cudaSuccess);
}

/* ---- recording ---- */

struct record {
  cudaEvent_t event;
  unsigned long count; /* of the shared event */
  int64_t time;
};

static void take_time(struct work *work) { ((struct record *) work->data)->time = now(); }

static void publish(struct work *work) {
  struct record *record = work->data;
  struct event *event = kve_handle_quietly(HANDLE_EVENT, (uintptr_t) record->event);
  if (event == NULL) {
    return;
  }
  if (event->at.slot == work->at.slot && event->at.sequence == work->at.sequence) {
    event->time = record->time;
  }
  if (event->shared != NULL && atomic_load(&event->shared->completed) < record->count) {
    atomic_store(&event->shared->completed, record->count);
  }
}

static cudaError_t record(cudaEvent_t handle, cudaStream_t stream_handle) {
  struct event *event = event_of(handle, "cudaEventRecord");
  struct stream *stream = kve_stream(stream_handle, "cudaEventRecord");
  if (event == NULL || stream == NULL) {
    return cudaErrorInvalidResourceHandle;
  }
  if (event->device != stream->device && !event->imported) {
    kve_misuse("cudaEventRecord: the event belongs to device %d, the stream to device %d", event->device, stream->device);
    return cudaErrorInvalidResourceHandle;
  }
  struct work *work = kve_work("cudaEventRecord", take_time, sizeof(struct record));
  struct record *data = work->data;
  data->event = handle;
  data->count = event->shared == NULL ? 0 : atomic_fetch_add(&event->shared->recorded, 1) + 1;
  work->done = publish;
  event->recorded = true;
  event->at = kve_submit(stream, work);
  memcpy(event->clock, stream->clock, sizeof(event->clock));
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  ENTER();
  return kve_leave(record(event, stream));
}

/* ---- waiting ---- */

static void nothing(struct work *work) { (void) work; }

/* Waits for another process, up to the count that was recorded when the wait was asked for. */
struct foreign_wait {
  struct shared_event *shared;
  unsigned long count;
};

static void pause_briefly(void) { nanosleep(&(struct timespec){0, POLL_NANOSECONDS}, NULL); }

static void wait_for_foreign(struct work *work) {
  struct foreign_wait *wait = work->data;
  while (atomic_load(&wait->shared->completed) < wait->count) {
    pause_briefly();
  }
}

static void unmap_foreign(struct work *work) {
  struct foreign_wait *wait = work->data;
  munmap(wait->shared, sizeof(*wait->shared));
}

static struct work *foreign_work(const struct event *event) {
  struct work *work = kve_work("cudaStreamWaitEvent", wait_for_foreign, sizeof(struct foreign_wait));
  struct foreign_wait *wait = work->data;
  wait->shared = mmap(NULL, sizeof(*wait->shared), PROT_READ | PROT_WRITE, MAP_SHARED, event->file, 0);
  wait->count = atomic_load(&event->shared->recorded);
  work->done = unmap_foreign;
  return work;
}

static void join_clocks(struct stream *stream, const struct event *event) {
  for (int i = 0; i < MAX_STREAMS; i++) {
    if (event->clock[i] > stream->clock[i]) {
      stream->clock[i] = event->clock[i];
    }
  }
}

static cudaError_t stream_waits(cudaStream_t stream_handle, cudaEvent_t handle, unsigned int flags) {
  struct stream *stream = kve_stream(stream_handle, "cudaStreamWaitEvent");
  struct event *event = event_of(handle, "cudaStreamWaitEvent");
  if (stream == NULL || event == NULL) {
    return cudaErrorInvalidResourceHandle;
  }
  if (flags > 1) {
    return cudaErrorInvalidValue;
  }
  if (event->shared != NULL) {
    kve_submit(stream, foreign_work(event));
    join_clocks(stream, event);
  } else if (event->recorded) {
    struct work *work = kve_work("cudaStreamWaitEvent", nothing, 0);
    kve_work_after(work, event->at);
    join_clocks(stream, event);
    kve_submit(stream, work);
  }
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  ENTER();
  return kve_leave(stream_waits(stream, event, flags));
}

cudaError_t cudaEventQuery(cudaEvent_t handle) {
  ENTER();
  struct event *event = event_of(handle, __func__);
  if (event == NULL) {
    return kve_leave(cudaErrorInvalidResourceHandle);
  }
  return kve_leave(is_done(event) ? cudaSuccess : cudaErrorNotReady);
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  ENTER();
  struct event *event = event_of(handle, __func__);
  if (event == NULL) {
    return kve_leave(cudaErrorInvalidResourceHandle);
  }
  if (event->shared == NULL) {
    if (event->recorded) {
      kve_wait(event->at);
    }
  } else {
    unsigned long count = atomic_load(&event->shared->recorded);
    while (kve_handle_quietly(HANDLE_EVENT, (uintptr_t) handle) == event && atomic_load(&event->shared->completed) < count) {
      kve_release_lock();
      pause_briefly();
      kve_acquire();
    }
  }
  kve_pools_settle();
  return kve_leave(cudaSuccess);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start_handle, cudaEvent_t end_handle) {
  ENTER();
  struct event *start = event_of(start_handle, __func__);
  struct event *end = event_of(end_handle, __func__);
  if (start == NULL || end == NULL || !start->recorded || !end->recorded
      || ((start->flags | end->flags) & cudaEventDisableTiming)) {
    return kve_leave(cudaErrorInvalidResourceHandle);
  }
  if (milliseconds == NULL) {
    return kve_leave(cudaErrorInvalidValue);
  }
  if (!is_done(start) || !is_done(end)) {
    return kve_leave(cudaErrorNotReady);
  }
  *milliseconds = (float) (end->time - start->time) / 1000000.0f;
  return kve_leave(cudaSuccess);
}

/* ---- other processes ---- */

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event_handle) {
  ENTER();
  struct event *event = event_of(event_handle, __func__);
  if (event == NULL || event->imported) {
    return kve_leave(cudaErrorInvalidResourceHandle);
  }
  if (handle == NULL || event->file < 0) {
    return kve_leave(cudaErrorInvalidValue);
  }
  kve_ticket_write(handle->reserved, &(struct ticket){TICKET_EVENT, event->file, event->device, 0, sizeof(struct shared_event)});
  return kve_leave(cudaSuccess);
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle) {
  ENTER();
  struct ticket ticket;
  int file = -1;
  cudaError_t status = event == NULL ? cudaErrorInvalidValue : kve_ticket_open(handle.reserved, TICKET_EVENT, &ticket, &file);
  if (status == cudaSuccess) {
    struct event *opened = open_event(cudaEventDisableTiming | cudaEventInterprocess, file);
    opened->imported = true;
    *event = opened->handle;
  }
  return kve_leave(status);
}
