/* What the parts of the emulated cuFile share; state is guarded by the emulator's lock. */
#ifndef KVTIER_EMULATOR_FILES_H
#define KVTIER_EMULATOR_FILES_H

#include "emulator.h"

#include <sys/types.h>

/* The header declares the C library's struct itself, for jextract's sake. */
#define timespec kvtier_timespec
#pragma GCC visibility push(default)
#include "cufile.h"
#pragma GCC visibility pop
#undef timespec

#define ALIGNMENT 4096UL
#define MAX_BATCHES 256

/* Codes that cuFile 1.15 made more exact. */
#define NEWER_ERROR(newer, older) (EMULATOR_MAJOR == 12 ? (older) : (newer))

/* Takes the lock unless the call has to return at once. */
bool kve_file_enter(const char *function, CUfileError_t *refused);
CUfileError_t kve_file_leave(int code);
/* A release is done even if it was planned to fail. */
CUfileError_t kve_file_leave_released(const struct plan_result *planned, int code);

#define FILE_ENTER()                                                                                                             \
  do {                                                                                                                           \
    CUfileError_t refused;                                                                                                       \
    if (!kve_file_enter(__func__, &refused)) {                                                                                   \
      return refused;                                                                                                            \
    }                                                                                                                            \
  } while (0)

/* ---- driver ---- */

/* Opens the driver if it is not; returns a code. Locked. */
int kve_driver_needed(void);
bool kve_driver_is_open(void);
bool kve_driver_is_direct(void);
size_t kve_batch_limit(void);
/* Checks and settles the parameters when the driver opens; returns a code. */
int kve_parameters_settle(void);
bool kve_parameter_bool(CUFileBoolConfigParameter_t parameter);
size_t kve_parameter_size(CUFileSizeTConfigParameter_t parameter);
void kve_parameter_set_size(CUFileSizeTConfigParameter_t parameter, size_t value);
void kve_parameter_set_bool(CUFileBoolConfigParameter_t parameter, bool value);

/* Count for the statistics. Locked. */
void kve_count_transfer(bool write, size_t asked, ssize_t moved);
void kve_count_batched(bool write, size_t asked);
void kve_statistics_end(void);

/* ---- files and buffers ---- */

struct file {
  CUfileHandle_t handle;
  int fd; /* the caller's */
  int own; /* the same file, opened without O_DIRECT */
  dev_t device;
  ino_t inode;
  bool writable;
  bool gone;
  int users;
};

struct buffer {
  uintptr_t handle;
  uintptr_t base;
  size_t size;
  struct memory *memory; /* NULL for pageable memory */
  bool gone;
  int users;
};

/* Returns NULL if there is none. Locked. */
struct file *kve_file(CUfileHandle_t handle);
struct buffer *kve_buffer_at(const void *base);
void kve_file_unuse(struct file *file);
void kve_buffer_unuse(struct buffer *buffer);
/* Reports and drops what is registered when the driver closes. */
void kve_files_drop(void);

/* ---- operations ---- */

/* One transfer: what it needs is in use from kve_operation_prepare to kve_operation_end. */
struct operation {
  const char *name;
  struct file *file;
  struct buffer *buffer;
  struct memory *memory;
  void *base;
  bool write;
};

/* Returns 0 or a code (of cuFile, or an errno). Locked. */
int kve_operation_prepare(struct operation *operation, const char *name, CUfileHandle_t file, const void *base, bool write);
/* Checks the range and finds where it is; returns 0 or a code. Locked. */
int kve_operation_range(const struct operation *operation, size_t size, off_t file_offset, off_t base_offset, char **touchable);
/* Moves bytes; returns their number or a negated code. Not locked. */
ssize_t kve_operation_move(
    const struct operation *operation, char *touchable, size_t size, off_t file_offset, struct plan_result planned);
void kve_operation_end(struct operation *operation);

#endif
