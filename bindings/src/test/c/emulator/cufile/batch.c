/* Batches: each has a thread that executes its operations one by one. An operation keeps its entry until its end was told. */
#include "files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum entry_state { ENTRY_FREE, ENTRY_WAITING, ENTRY_RUNNING, ENTRY_DONE };

struct entry {
  enum entry_state state;
  unsigned long number;
  struct operation operation;
  CUfileIOParams_t asked;
  char *touchable;
  CUfileStatus_t status;
  ssize_t result;
};

struct batch {
  unsigned int capacity;
  unsigned long submitted;
  bool destroyed;
  struct entry entries[];
};

static long batch_count;

/* ---- executing ---- */

static unsigned int count_of(const struct batch *batch, enum entry_state state) {
  unsigned int count = 0;
  for (unsigned int i = 0; i < batch->capacity; i++) {
    count += batch->entries[i].state == state;
  }
  return count;
}

/* Returns the oldest entry in a state, or NULL. */
static struct entry *oldest(struct batch *batch, enum entry_state state) {
  struct entry *found = NULL;
  for (unsigned int i = 0; i < batch->capacity; i++) {
    struct entry *entry = &batch->entries[i];
    if (entry->state == state && (found == NULL || entry->number < found->number)) {
      found = entry;
    }
  }
  return found;
}

static void end(struct entry *entry, CUfileStatus_t status, ssize_t result) {
  entry->status = status;
  entry->result = result;
  entry->state = ENTRY_DONE;
  kve_operation_end(&entry->operation);
}

static void execute(struct entry *entry) {
  entry->state = ENTRY_RUNNING;
  kve_release_lock();
  struct plan_result planned = kve_use("cuFileBatchIOSubmit@operation");
  ssize_t moved = kve_operation_move(
      &entry->operation, entry->touchable, entry->asked.u.batch.size, entry->asked.u.batch.file_offset, planned);
  kve_acquire();
  kve_count_batched(entry->operation.write, entry->asked.u.batch.size);
  end(entry, moved < 0 ? CUFILE_FAILED : CUFILE_COMPLETE, moved);
}

static void *serve(void *argument) {
  struct batch *batch = argument;
  kve_acquire();
  while (!batch->destroyed) {
    struct entry *entry = kve_held() ? NULL : oldest(batch, ENTRY_WAITING);
    if (entry != NULL) {
      execute(entry);
    } else {
      pthread_cond_wait(&kve_progress, &kve_lock);
    }
  }
  free(batch);
  kve_release_lock();
  return NULL;
}

/* ---- life ---- */

static int set_up(CUfileBatchHandle_t *handle, unsigned int capacity) {
  if (!kve_driver_is_open() || handle == NULL || capacity == 0 || capacity > kve_batch_limit()) {
    return CU_FILE_INVALID_VALUE;
  }
  if (batch_count == MAX_BATCHES) {
    return NEWER_ERROR(CU_FILE_INTERNAL_BATCH_SETUP_ERROR, CU_FILE_INTERNAL_ERROR);
  }
  struct batch *batch = calloc(1, sizeof(*batch) + capacity * sizeof(struct entry));
  batch->capacity = capacity;
  pthread_t thread;
  if (pthread_create(&thread, NULL, serve, batch) != 0) {
    free(batch);
    return CU_FILE_INTERNAL_ERROR;
  }
  pthread_detach(thread);
  batch_count++;
  *handle = (CUfileBatchHandle_t) kve_handle_open(HANDLE_BATCH, batch, "of %u operations", capacity);
  return CU_FILE_SUCCESS;
}

CUfileError_t cuFileBatchIOSetUp(CUfileBatchHandle_t *batch, unsigned int capacity) {
  FILE_ENTER();
  return kve_file_leave(set_up(batch, capacity));
}

static int no_batch(void) { return NEWER_ERROR(CU_FILE_INVALID_CONTEXT_ERROR, CU_FILE_INVALID_VALUE); }

static void cancel(struct batch *batch) {
  struct entry *entry;
  while ((entry = oldest(batch, ENTRY_WAITING)) != NULL) {
    end(entry, CUFILE_CANCELED, -ECANCELED);
  }
}

CUfileError_t cuFileBatchIOCancel(CUfileBatchHandle_t handle) {
  FILE_ENTER();
  struct batch *batch = kve_handle(HANDLE_BATCH, (uintptr_t) handle, __func__);
  if (batch == NULL) {
    return kve_file_leave(no_batch());
  }
  cancel(batch);
  return kve_file_leave(CU_FILE_SUCCESS);
}

void cuFileBatchIODestroy(CUfileBatchHandle_t handle) {
  kve_use(__func__);
  kve_acquire();
  struct batch *batch = kve_handle(HANDLE_BATCH, (uintptr_t) handle, __func__);
  if (batch != NULL) {
    if (count_of(batch, ENTRY_WAITING) + count_of(batch, ENTRY_RUNNING) > 0) {
      kve_misuse("%s: the batch has pending operations", __func__);
    }
    kve_handle_close((uintptr_t) handle);
    cancel(batch);
    while (count_of(batch, ENTRY_RUNNING) > 0) {
      pthread_cond_wait(&kve_progress, &kve_lock);
    }
    batch->destroyed = true;
    batch_count--;
    pthread_cond_broadcast(&kve_progress);
  }
  kve_release_lock();
}

/* ---- submitting ---- */

static int prepare(struct entry *entry, const CUfileIOParams_t *asked) {
  if (asked->mode != CUFILE_BATCH || (unsigned int) asked->opcode > CUFILE_WRITE || asked->u.batch.devPtr_base == NULL) {
    return CU_FILE_INVALID_VALUE;
  }
  int code = kve_operation_prepare(
      &entry->operation, "cuFileBatchIOSubmit", asked->fh, asked->u.batch.devPtr_base, asked->opcode == CUFILE_WRITE);
  if (code != 0) {
    return code == EBADF ? CU_FILE_IO_NOT_SUPPORTED : code == EINVAL ? CU_FILE_HANDLE_NOT_REGISTERED : code;
  }
  code = kve_operation_range(
      &entry->operation, asked->u.batch.size, asked->u.batch.file_offset, asked->u.batch.devPtr_offset, &entry->touchable);
  if (code != 0) {
    kve_operation_end(&entry->operation);
    return code;
  }
  entry->asked = *asked;
  return CU_FILE_SUCCESS;
}

static void take_back(struct batch *batch, unsigned long before) {
  for (unsigned int i = 0; i < batch->capacity; i++) {
    struct entry *entry = &batch->entries[i];
    if (entry->state == ENTRY_WAITING && entry->number > before) {
      kve_operation_end(&entry->operation);
      entry->state = ENTRY_FREE;
    }
  }
  batch->submitted = before;
}

/* All or none; the thread does not see the entries before all are there, as the lock is held. */
static int submit(struct batch *batch, unsigned int count, const CUfileIOParams_t *operations) {
  if (operations == NULL || count == 0 || count > batch->capacity) {
    return NEWER_ERROR(CU_FILE_INTERNAL_BATCH_SUBMIT_ERROR, CU_FILE_BATCH_SUBMIT_FAILED);
  }
  if (count > count_of(batch, ENTRY_FREE)) {
    return CU_FILE_BATCH_FULL;
  }
  unsigned long before = batch->submitted;
  for (unsigned int i = 0; i < count; i++) {
    struct entry *entry = oldest(batch, ENTRY_FREE);
    int code = prepare(entry, &operations[i]);
    if (code != CU_FILE_SUCCESS) {
      take_back(batch, before);
      return code;
    }
    entry->state = ENTRY_WAITING;
    entry->number = ++batch->submitted;
  }
  pthread_cond_broadcast(&kve_progress);
  return CU_FILE_SUCCESS;
}

CUfileError_t cuFileBatchIOSubmit(
    CUfileBatchHandle_t handle, unsigned int count, CUfileIOParams_t *operations, unsigned int flags) {
  FILE_ENTER();
  (void) flags;
  struct batch *batch = kve_handle(HANDLE_BATCH, (uintptr_t) handle, __func__);
  return kve_file_leave(batch == NULL ? no_batch() : submit(batch, count, operations));
}

/* ---- asking ---- */

static struct timespec deadline_of(const struct kvtier_timespec *timeout) {
  struct timespec deadline;
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_nsec += timeout->tv_nsec;
  deadline.tv_sec += timeout->tv_sec + deadline.tv_nsec / 1000000000L;
  deadline.tv_nsec %= 1000000000L;
  return deadline;
}

/* Waits until enough operations have ended; there is nothing to wait for if none is pending, or if the batch is destroyed. */
static void wait_for(CUfileBatchHandle_t handle, unsigned int least, const struct kvtier_timespec *timeout) {
  struct timespec deadline = timeout == NULL ? (struct timespec){0, 0} : deadline_of(timeout);
  int status = 0;
  struct batch *batch;
  while (status != ETIMEDOUT && (batch = kve_handle_quietly(HANDLE_BATCH, (uintptr_t) handle)) != NULL
         && count_of(batch, ENTRY_DONE) < least && count_of(batch, ENTRY_WAITING) + count_of(batch, ENTRY_RUNNING) > 0) {
    status = timeout == NULL ? pthread_cond_wait(&kve_progress, &kve_lock)
                             : pthread_cond_timedwait(&kve_progress, &kve_lock, &deadline);
  }
}

static int tell(
    CUfileBatchHandle_t handle,
    unsigned int least,
    unsigned int *count,
    CUfileIOEvents_t *events,
    const struct kvtier_timespec *timeout) {
  if (count == NULL || events == NULL || *count == 0 || least > *count) {
    return CU_FILE_INVALID_VALUE;
  }
  wait_for(handle, least, timeout);
  struct batch *batch = kve_handle(HANDLE_BATCH, (uintptr_t) handle, "cuFileBatchIOGetStatus");
  if (batch == NULL) {
    return no_batch();
  }
  unsigned int told = 0;
  struct entry *entry;
  while (told < *count && (entry = oldest(batch, ENTRY_DONE)) != NULL) {
    events[told++] = (CUfileIOEvents_t){entry->asked.cookie, entry->status, (size_t) entry->result};
    memset(entry, 0, sizeof(*entry));
  }
  *count = told;
  return CU_FILE_SUCCESS;
}

CUfileError_t cuFileBatchIOGetStatus(
    CUfileBatchHandle_t handle,
    unsigned int least,
    unsigned int *count,
    CUfileIOEvents_t *events,
    struct kvtier_timespec *timeout) {
  FILE_ENTER();
  return kve_file_leave(tell(handle, least, count, events, timeout));
}
