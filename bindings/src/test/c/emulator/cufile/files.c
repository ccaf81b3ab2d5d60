/* Registered files and buffers. */
#include "files.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files ---- */

struct file *kve_file(CUfileHandle_t handle) { return kve_handle_quietly(HANDLE_FILE, (uintptr_t) handle); }

struct search {
  int fd;
  const void *base;
  struct buffer *found;
  bool is_there;
};

static void same_fd(void *object, void *context) {
  struct search *search = context;
  search->is_there |= ((struct file *) object)->fd == search->fd;
}

static bool is_registered(int fd) {
  struct search search = {.fd = fd};
  kve_handles_of(HANDLE_FILE, same_fd, &search);
  return search.is_there;
}

static int check_description(const CUfileDescr_t *description, struct stat *status, int *flags) {
  if (description->type != CU_FILE_HANDLE_TYPE_OPAQUE_FD) {
    return CU_FILE_IO_NOT_SUPPORTED;
  }
  int fd = description->handle.fd;
  *flags = fcntl(fd, F_GETFL);
  if (*flags < 0 || fstat(fd, status) != 0) {
    return CU_FILE_INVALID_VALUE;
  }
  if (!S_ISREG(status->st_mode) && !S_ISBLK(status->st_mode)) {
    return CU_FILE_INVALID_FILE_TYPE;
  }
  if (*flags & O_APPEND) {
    return CU_FILE_INVALID_FILE_OPEN_FLAG;
  }
  return is_registered(fd) ? CU_FILE_HANDLE_ALREADY_REGISTERED : CU_FILE_SUCCESS;
}

/* Aligned or not, the file must be readable and writable, so it is opened once more, without O_DIRECT. */
static int open_again(int fd, int flags) {
  char path[64];
  snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
  return open(path, (flags & O_ACCMODE) | O_CLOEXEC);
}

static int register_file(CUfileHandle_t *handle, const CUfileDescr_t *description) {
  if (handle == NULL || description == NULL) {
    return CU_FILE_INVALID_VALUE;
  }
  int code = kve_driver_needed();
  struct stat status;
  int flags = 0;
  if (code == CU_FILE_SUCCESS) {
    code = check_description(description, &status, &flags);
  }
  if (code != CU_FILE_SUCCESS) {
    return code;
  }
  int own = open_again(description->handle.fd, flags);
  if (own < 0) {
    return CU_FILE_GETNEWFD_FAILED;
  }
  struct file *file = calloc(1, sizeof(*file));
  file->fd = description->handle.fd;
  file->own = own;
  file->device = status.st_dev;
  file->inode = status.st_ino;
  file->writable = (flags & O_ACCMODE) != O_RDONLY;
  file->handle = (CUfileHandle_t) kve_handle_open(HANDLE_FILE, file, "of descriptor %d", file->fd);
  *handle = file->handle;
  return CU_FILE_SUCCESS;
}

CUfileError_t cuFileHandleRegister(CUfileHandle_t *file, CUfileDescr_t *description) {
  FILE_ENTER();
  return kve_file_leave(register_file(file, description));
}

static void free_file(struct file *file) {
  if (file->gone && file->users == 0) {
    close(file->own);
    free(file);
  }
}

void kve_file_unuse(struct file *file) {
  file->users--;
  free_file(file);
}

static void drop_file(struct file *file, const char *function) {
  if (file->users > 0) {
    kve_misuse("%s: the file of descriptor %d is used by pending I/O", function, file->fd);
  }
  kve_handle_close((uintptr_t) file->handle);
  file->gone = true;
  free_file(file);
}

void cuFileHandleDeregister(CUfileHandle_t handle) {
  kve_use(__func__);
  kve_acquire();
  struct file *file = kve_handle(HANDLE_FILE, (uintptr_t) handle, __func__);
  if (file != NULL) {
    drop_file(file, __func__);
  }
  kve_release_lock();
}

/* ---- buffers ---- */

static void same_base(void *object, void *context) {
  struct search *search = context;
  struct buffer *buffer = object;
  if (buffer->base == (uintptr_t) search->base) {
    search->found = buffer;
  }
}

struct buffer *kve_buffer_at(const void *base) {
  struct search search = {.base = base};
  kve_handles_of(HANDLE_BUFFER, same_base, &search);
  return search.found;
}

static int register_buffer(const void *base, size_t size, int flags) {
  if (base == NULL || size == 0 || flags < 0 || flags > (CU_FILE_RDMA_REGISTER | CU_FILE_RDMA_RELAXED_ORDERING)) {
    return CU_FILE_INVALID_VALUE;
  }
  int code = kve_driver_needed();
  if (code != CU_FILE_SUCCESS) {
    return code;
  }
  if (kve_buffer_at(base) != NULL) {
    return CU_FILE_MEMORY_ALREADY_REGISTERED;
  }
  struct memory *memory;
  char *touchable;
  if (!kve_range("cuFileBufRegister", NULL, base, size, &memory, &touchable)) {
    return memory == NULL ? CU_FILE_CUDA_POINTER_INVALID : CU_FILE_CUDA_POINTER_RANGE_ERROR;
  }
  struct buffer *buffer = calloc(1, sizeof(*buffer));
  buffer->base = (uintptr_t) base;
  buffer->size = size;
  buffer->memory = memory;
  if (memory != NULL) {
    memory->buffers++;
  }
  buffer->handle = kve_handle_open(HANDLE_BUFFER, buffer, "%p of %zu bytes", base, size);
  return CU_FILE_SUCCESS;
}

CUfileError_t cuFileBufRegister(const void *base, size_t size, int flags) {
  FILE_ENTER();
  return kve_file_leave(register_buffer(base, size, flags));
}

static void free_buffer(struct buffer *buffer) {
  if (buffer->gone && buffer->users == 0) {
    free(buffer);
  }
}

void kve_buffer_unuse(struct buffer *buffer) {
  buffer->users--;
  free_buffer(buffer);
}

/* Memory that was freed before its registration is gone: that was reported, and nothing of it is left to count down. */
static void drop_buffer(struct buffer *buffer, const char *function) {
  if (buffer->users > 0) {
    kve_misuse("%s: the buffer %#lx is used by pending I/O", function, buffer->base);
  }
  struct memory *memory = kve_memory_at(buffer->base);
  if (memory != NULL && memory == buffer->memory && memory->buffers > 0) {
    memory->buffers--;
  }
  kve_handle_close(buffer->handle);
  buffer->gone = true;
  free_buffer(buffer);
}

CUfileError_t cuFileBufDeregister(const void *base) {
  struct plan_result planned = kve_use(__func__);
  kve_acquire();
  struct buffer *buffer = base == NULL ? NULL : kve_buffer_at(base);
  if (base == NULL) {
    return kve_file_leave_released(&planned, CU_FILE_INVALID_VALUE);
  }
  if (buffer == NULL) {
    kve_misuse("%s: %p is no registered buffer", __func__, base);
    return kve_file_leave_released(&planned, kve_driver_is_open() ? CU_FILE_MEMORY_NOT_REGISTERED : CU_FILE_DRIVER_CLOSING);
  }
  drop_buffer(buffer, __func__);
  return kve_file_leave_released(&planned, CU_FILE_SUCCESS);
}

/* ---- the end ---- */

static void drop_registered_file(void *object, void *context) {
  struct file *file = object;
  kve_misuse("%s: the file of descriptor %d is still registered", (const char *) context, file->fd);
  drop_file(file, context);
}

static void drop_registered_buffer(void *object, void *context) {
  struct buffer *buffer = object;
  kve_misuse("%s: the buffer %#lx is still registered", (const char *) context, buffer->base);
  drop_buffer(buffer, context);
}

void kve_files_drop(void) {
  char function[] = "cuFileDriverClose";
  kve_handles_of(HANDLE_FILE, drop_registered_file, function);
  kve_handles_of(HANDLE_BUFFER, drop_registered_buffer, function);
}
