/*
 * Reads and writes. The real library says what went wrong in two ways, and both are here: the emulated 12 returns a negated code,
 * as documented; the emulated 13 returns -1 and leaves the code in errno, as cuFile 1.20 was seen to do.
 */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- one operation ---- */

/* The descriptor must stay open, and stay the same file, as long as it is registered. */
static int check_descriptor(const struct operation *operation) {
  struct stat status;
  const struct file *file = operation->file;
  if (fstat(file->fd, &status) == 0 && status.st_dev == file->device && status.st_ino == file->inode) {
    return 0;
  }
  kve_misuse("%s: descriptor %d is closed although its file is registered", operation->name, file->fd);
  return EBADF;
}

int kve_operation_prepare(struct operation *operation, const char *name, CUfileHandle_t handle, const void *base, bool write) {
  if (handle == NULL || base == NULL) {
    return EINVAL;
  }
  struct file *file = kve_file(handle);
  *operation = (struct operation){.name = name, .file = file, .base = (void *) base, .write = write};
  if (file == NULL) {
    kve_handle(HANDLE_FILE, (uintptr_t) handle, name);
    return CU_FILE_HANDLE_NOT_REGISTERED;
  }
  if (write && !file->writable) {
    return CU_FILE_INVALID_FILE_OPEN_FLAG;
  }
  int code = check_descriptor(operation);
  if (code != 0) {
    return code;
  }
  operation->buffer = kve_buffer_at(base);
  operation->memory = kve_memory_at((uintptr_t) base);
  file->users++;
  if (operation->buffer != NULL) {
    operation->buffer->users++;
  }
  if (operation->memory != NULL) {
    kve_memory_use(operation->memory);
  }
  return 0;
}

int kve_operation_range(const struct operation *operation, size_t size, off_t file_offset, off_t base_offset, char **touchable) {
  if (file_offset < 0) {
    return CU_FILE_INVALID_VALUE;
  }
  if (base_offset < 0) {
    kve_misuse("%s: the offset %ld lies before the buffer", operation->name, base_offset);
    return CU_FILE_INVALID_VALUE;
  }
  const struct buffer *buffer = operation->buffer;
  if (buffer != NULL && ((size_t) base_offset > buffer->size || size > buffer->size - (size_t) base_offset)) {
    return CU_FILE_INVALID_MAPPING_RANGE;
  }
  struct memory *memory;
  char *start = (char *) operation->base + base_offset;
  if (size > 0 && !kve_range(operation->name, NULL, start, size, &memory, touchable)) {
    return memory == NULL ? CU_FILE_CUDA_POINTER_INVALID : CU_FILE_CUDA_POINTER_RANGE_ERROR;
  }
  if (kve_driver_is_direct() && (((uintptr_t) start | size | (size_t) file_offset) & (ALIGNMENT - 1)) != 0) {
    kve_note("%s: not aligned to %lu bytes, so through a bounce buffer", operation->name, ALIGNMENT);
  }
  return 0;
}

static ssize_t move_all(const struct operation *operation, char *touchable, size_t size, off_t file_offset) {
  size_t moved = 0;
  while (moved < size) {
    size_t rest = size - moved;
    off_t at = file_offset + (off_t) moved;
    ssize_t now = operation->write ? pwrite(operation->file->own, touchable + moved, rest, at)
                                   : pread(operation->file->own, touchable + moved, rest, at);
    if (now < 0 && errno == EINTR) {
      continue;
    }
    if (now < 0) {
      return moved > 0 ? (ssize_t) moved : -errno;
    }
    if (now == 0) {
      break;
    }
    moved += (size_t) now;
  }
  return (ssize_t) moved;
}

ssize_t kve_operation_move(
    const struct operation *operation, char *touchable, size_t size, off_t file_offset, struct plan_result planned) {
  if (planned.fails) {
    return planned.code < 0 ? planned.code : -planned.code;
  }
  size_t most = planned.most >= 0 && (size_t) planned.most < size ? (size_t) planned.most : size;
  return move_all(operation, touchable, most, file_offset);
}

void kve_operation_end(struct operation *operation) {
  kve_file_unuse(operation->file);
  if (operation->buffer != NULL) {
    kve_buffer_unuse(operation->buffer);
  }
  if (operation->memory != NULL) {
    kve_memory_unuse(operation->memory);
  }
  pthread_cond_broadcast(&kve_progress);
}

/* ---- the calls ---- */

/* Takes a number of bytes or a negated code. */
static ssize_t answer(ssize_t result) {
  if (result >= 0) {
    return result;
  }
  if (EMULATOR_MAJOR == 12 && result <= -CU_FILE_DRIVER_NOT_INITIALIZED) {
    return result;
  }
  errno = (int) -result;
  return -1;
}

static ssize_t answer_planned(struct plan_result planned) {
  if (planned.code < 0) {
    return planned.code;
  }
  errno = planned.code;
  return -1;
}

static ssize_t move(
    const char *name,
    CUfileHandle_t file,
    const void *base,
    size_t size,
    off_t file_offset,
    off_t base_offset,
    bool write,
    struct plan_result planned) {
  struct operation operation;
  char *touchable = NULL;
  kve_acquire();
  int code = kve_lost() != cudaSuccess ? CU_FILE_CUDA_DRIVER_ERROR : kve_operation_prepare(&operation, name, file, base, write);
  if (code != 0) {
    kve_release_lock();
    return -code;
  }
  code = kve_operation_range(&operation, size, file_offset, base_offset, &touchable);
  kve_release_lock();
  ssize_t moved = code != 0 ? -code : kve_operation_move(&operation, touchable, size, file_offset, planned);
  kve_acquire();
  kve_operation_end(&operation);
  kve_count_transfer(write, size, moved);
  kve_release_lock();
  return moved;
}

static ssize_t transfer(
    const char *name, CUfileHandle_t file, const void *base, size_t size, off_t file_offset, off_t base_offset, bool write) {
  struct plan_result planned = kve_use(name);
  return planned.fails ? answer_planned(planned) : answer(move(name, file, base, size, file_offset, base_offset, write, planned));
}

ssize_t cuFileRead(CUfileHandle_t file, void *base, size_t size, off_t file_offset, off_t base_offset) {
  return transfer(__func__, file, base, size, file_offset, base_offset, false);
}

ssize_t cuFileWrite(CUfileHandle_t file, const void *base, size_t size, off_t file_offset, off_t base_offset) {
  return transfer(__func__, file, base, size, file_offset, base_offset, true);
}

#if EMULATOR_MAJOR >= 13

static ssize_t move_vectors(
    const char *name,
    CUfileHandle_t file,
    const CUfileIOVec_t *vectors,
    size_t count,
    off_t file_offset,
    bool write,
    struct plan_result planned) {
  ssize_t total = 0;
  for (size_t i = 0; i < count; i++) {
    ssize_t moved = move(name, file, vectors[i].base, vectors[i].len, file_offset + total, 0, write, planned);
    if (moved < 0) {
      return total > 0 ? total : moved;
    }
    total += moved;
    planned.most -= planned.most < 0 ? 0 : moved;
    if ((size_t) moved < vectors[i].len) {
      break;
    }
  }
  return total;
}

static ssize_t transfer_vectors(
    const char *name, CUfileHandle_t file, const CUfileIOVec_t *vectors, size_t count, off_t file_offset, bool write) {
  struct plan_result planned = kve_use(name);
  if (planned.fails) {
    return answer_planned(planned);
  }
  if (file == NULL || vectors == NULL || count == 0 || file_offset < 0) {
    return answer(-EINVAL);
  }
  return answer(move_vectors(name, file, vectors, count, file_offset, write, planned));
}

ssize_t cuFileReadv(CUfileHandle_t file, const CUfileIOVec_t *vectors, size_t count, off_t file_offset, unsigned int flags) {
  (void) flags;
  return transfer_vectors(__func__, file, vectors, count, file_offset, false);
}

ssize_t cuFileWritev(CUfileHandle_t file, const CUfileIOVec_t *vectors, size_t count, off_t file_offset, unsigned int flags) {
  (void) flags;
  return transfer_vectors(__func__, file, vectors, count, file_offset, true);
}

#endif
