/* What the parts of the emulator share. One lock guards all state; "locked" below means that the caller holds it. */
#ifndef KVTIER_EMULATOR_H
#define KVTIER_EMULATOR_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
#include "control.h"
#include "cuda.h"

#define MAX_DEVICES 8
#define MAX_STREAMS 256

/* ---- the lock, and how every exported function begins and ends ---- */

extern pthread_mutex_t kve_lock;
/* Signalled whenever a stream got further, or anything else that somebody may wait for. */
extern pthread_cond_t kve_progress;

void kve_acquire(void);
void kve_release_lock(void);

/* Takes the lock unless it returns a code that the call has to return at once. */
cudaError_t kve_enter(const char *function);
/* The same for a call that releases something: planned failures and a lost context do not keep it from that, it only returns
 * them. */
cudaError_t kve_enter_to_release(const char *function, cudaError_t *planned);
/* Gives the lock back and keeps an error for cudaGetLastError. */
cudaError_t kve_leave(cudaError_t status);

#define ENTER()                                                                                                                  \
  do {                                                                                                                           \
    cudaError_t refused = kve_enter(__func__);                                                                                   \
    if (refused != cudaSuccess) {                                                                                                \
      return refused;                                                                                                            \
    }                                                                                                                            \
  } while (0)

#define ENTER_TO_RELEASE()                                                                                                       \
  cudaError_t planned;                                                                                                           \
  do {                                                                                                                           \
    cudaError_t refused = kve_enter_to_release(__func__, &planned);                                                              \
    if (refused != cudaSuccess) {                                                                                                \
      return refused;                                                                                                            \
    }                                                                                                                            \
  } while (0)

#define LEAVE_RELEASED(status)                                                                                                   \
  do {                                                                                                                           \
    cudaError_t released = (status);                                                                                             \
    return kve_leave(planned != cudaSuccess ? planned : released);                                                               \
  } while (0)

/* ---- plans ---- */

/* What kvtier_emulator_compat said. */
extern bool kve_compat;

struct plan_result {
  bool fails;
  int code;
  long most; /* bytes that the call may move; -1 for any */
};

/* Counts a use of a function; blocks if it is to stall. Not locked. */
struct plan_result kve_use(const char *function);
/* Ends the context, as an illegal access does. Locked. */
bool kve_is_fatal(int code);
void kve_lose_context(cudaError_t status);
cudaError_t kve_lost(void);

/* ---- reports ---- */

void kve_misuse(const char *format, ...) __attribute__((format(printf, 1, 2)));
void kve_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* True on a thread that runs a host function. */
extern _Thread_local bool kve_in_host_function;

/* ---- handles: never pointers, so that a stale one is known as such ---- */

enum handle_kind {
  HANDLE_STREAM = 0x51,
  HANDLE_EVENT,
  HANDLE_POOL,
  HANDLE_FILE,
  HANDLE_BATCH,
  HANDLE_BUFFER,
  HANDLE_FILE_STREAM
};

uintptr_t kve_handle_open(enum handle_kind kind, void *object, const char *label, ...) __attribute__((format(printf, 3, 4)));
/* Returns NULL, and reports misuse, if there is no such live handle. Locked. */
void *kve_handle(enum handle_kind kind, uintptr_t handle, const char *function);
/* The same without a report. */
void *kve_handle_quietly(enum handle_kind kind, uintptr_t handle);
void kve_handle_close(uintptr_t handle);
/* Calls visit for each live handle of a kind. Locked. */
void kve_handles_of(enum handle_kind kind, void (*visit)(void *object, void *context), void *context);

/* ---- devices ---- */

struct device {
  size_t total;
  size_t used;
  uintptr_t base; /* device addresses, which the host must not touch */
  char *shadow; /* the same memory, for the emulator's own use */
  size_t span;
  int file;
  unsigned char peers[MAX_DEVICES];
};

/* Returns NULL if there is no such device. Locked. */
struct device *kve_device(int ordinal);
int kve_device_count(void);
int kve_current_device(void);
bool kve_is_device_address(uintptr_t address);
/* All devices but the first take registered memory that they may only read. */
bool kve_registers_read_only(int device);
/* Tells this process's device memory from that of any other. */
uint64_t kve_nonce(void);

/* ---- memory ---- */

enum memory_kind { MEMORY_DEVICE, MEMORY_POOL, MEMORY_IMPORTED, MEMORY_PINNED, MEMORY_REGISTERED };

struct pool;
struct stream;

/* A place in the work of a stream. */
struct point {
  int slot;
  unsigned long sequence;
};

struct memory {
  enum memory_kind kind;
  uintptr_t address;
  size_t size;
  size_t extent; /* size as allocated */
  char *shadow;
  int device;
  unsigned int flags;
  struct pool *pool;
  struct point born;
  bool freeing; /* cudaFreeAsync is in a stream */
  bool gone; /* freed; it stays in the table only until its last user is done */
  int users; /* work and I/O that is not finished */
  int opened; /* imports of the same handle */
  int buffers; /* registrations with cuFile */
  struct memory_origin {
    uint64_t nonce;
    int device;
    size_t offset;
  } origin;
};

/* Returns the memory that holds the address, or NULL. Locked. */
struct memory *kve_memory_at(uintptr_t address);
/* Returns memory that overlaps the range, or NULL. Locked. */
struct memory *kve_memory_overlapping(uintptr_t address, size_t size);
void kve_memory_add(struct memory *memory);
/* Frees it; what backs it stays until its last user is done. */
void kve_memory_remove(struct memory *memory);
void kve_memory_use(struct memory *memory);
void kve_memory_unuse(struct memory *memory);
bool kve_memory_on_device(const struct memory *memory);
/* Returns an entry of the table, gone or not; NULL behind the last. */
struct memory *kve_memory_get(size_t index);
const char *kve_memory_name(const struct memory *memory);
/* Reports it if the memory is in use, or registered with cuFile, when it is freed. Locked. */
void kve_check_unused(const struct memory *memory, const char *function);

/* Allocates addresses on a device, without counting them as used. Locked. */
struct memory *kve_device_allocate(int ordinal, size_t size, enum memory_kind kind);

/* ---- pools ---- */

void kve_pool_returned(struct pool *pool, size_t size);
bool kve_pool_accessible(const struct pool *pool, int device);
/* What a synchronisation does: pools give back what exceeds their thresholds. */
void kve_pools_settle(void);

/* ---- streams ---- */

struct work {
  struct work *next;
  const char *name;
  struct stream *stream;
  struct point at;
  struct point *after;
  int after_count;
  bool cancelled;
  void (*run)(struct work *work); /* not locked */
  void (*done)(struct work *work); /* locked; may be NULL */
  struct memory **memory;
  int memory_count;
  int memory_room;
  void *data; /* freed with the work */
  bool takes_plan; /* run looks at the plan itself */
  struct plan_result planned;
};

struct stream {
  cudaStream_t handle;
  int slot;
  int device;
  bool blocking;
  bool legacy; /* the NULL stream of its device */
  bool destroyed;
  int priority;
  struct work *first;
  struct work *last;
  struct work *running;
  pthread_cond_t wake;
  unsigned long clock[MAX_STREAMS]; /* up to where other streams are ordered before this one's next work */
  uintptr_t file_handle; /* 0 if it is not registered with cuFile */
  unsigned int file_flags;
};

/* Returns NULL, and reports misuse, if there is no such live stream. Locked. */
struct stream *kve_stream(cudaStream_t handle, const char *function);
struct work *kve_work(const char *name, void (*run)(struct work *), size_t data_size);
/* Says that a piece of work touches memory. */
void kve_work_uses(struct work *work, struct memory *memory);
void kve_work_after(struct work *work, struct point point);
/* Appends work to a stream, which owns it from now on. Locked. */
struct point kve_submit(struct stream *stream, struct work *work);
bool kve_reached(struct point point);
/* Returns true if the point lies before the next work of the stream, or is past already. */
bool kve_ordered(const struct stream *stream, struct point point);
/* Waits until the point is reached. Locked; the lock is given back meanwhile. */
void kve_wait(struct point point);
struct point kve_stream_end(const struct stream *stream);
/* Waits for all streams of a device. Locked. */
void kve_drain(int device);
/* Returns unfinished work that touches the memory and is not ordered before the stream's next work; the stream may be NULL.
 * Locked. */
const struct work *kve_pending_use(const struct memory *memory, const struct stream *stream);
/* Makes unfinished work that touches the memory do nothing, and waits for what runs. Locked. */
void kve_cancel_uses(const struct memory *memory);
/* Returns true if the stream has unfinished work of a call whose name begins so. Locked. */
bool kve_stream_pending(const struct stream *stream, const char *prefix);
/* Says whether kvtier_emulator_hold_streams holds everything. Locked. */
bool kve_held(void);

/* ---- checks that several calls share ---- */

/* Finds what an address range is; false, with a report, if it may not be used. *memory is NULL for pageable host memory. Locked.
 */
bool kve_range(
    const char *function,
    const struct stream *stream,
    const void *pointer,
    size_t size,
    struct memory **memory,
    char **touchable);

#pragma GCC visibility pop

#endif
