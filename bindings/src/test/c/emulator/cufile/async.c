/* I/O in the order of a stream. What the pointers hold is read when the stream gets there, unless the stream was registered with
 * flags that say it is fixed. */
#include "files.h"

#include <errno.h>

#define ALL_FLAGS                                                                                                                \
  (CU_FILE_STREAM_FIXED_BUF_OFFSET | CU_FILE_STREAM_FIXED_FILE_OFFSET | CU_FILE_STREAM_FIXED_FILE_SIZE                           \
   | CU_FILE_STREAM_PAGE_ALIGNED_INPUTS)

/* ---- streams ---- */

CUfileError_t cuFileStreamRegister(CUstream handle, unsigned int flags) {
  FILE_ENTER();
  struct stream *stream = kve_stream(handle, __func__);
  if (stream == NULL || flags > ALL_FLAGS || stream->file_handle != 0) {
    return kve_file_leave(CU_FILE_INVALID_VALUE);
  }
  stream->file_flags = flags;
  stream->file_handle = kve_handle_open(HANDLE_FILE_STREAM, stream, "of device %d with cuFile", stream->device);
  return kve_file_leave(CU_FILE_SUCCESS);
}

CUfileError_t cuFileStreamDeregister(CUstream handle) {
  struct plan_result planned = kve_use(__func__);
  kve_acquire();
  struct stream *stream = kve_stream(handle, __func__);
  if (stream == NULL || stream->file_handle == 0) {
    return kve_file_leave_released(&planned, CU_FILE_INVALID_VALUE);
  }
  if (kve_stream_pending(stream, "cuFile")) {
    kve_misuse("%s: the stream has pending I/O", __func__);
  }
  kve_handle_close(stream->file_handle);
  stream->file_handle = 0;
  stream->file_flags = 0;
  return kve_file_leave_released(&planned, CU_FILE_SUCCESS);
}

/* ---- I/O ---- */

struct request {
  struct operation operation;
  unsigned int flags;
  size_t *size_at;
  off_t *file_offset_at;
  off_t *base_offset_at;
  ssize_t *moved_at;
  size_t size;
  off_t file_offset;
  off_t base_offset;
};

static void read_inputs(struct request *request, unsigned int now) {
  if (now & CU_FILE_STREAM_FIXED_FILE_SIZE) {
    request->size = *request->size_at;
  }
  if (now & CU_FILE_STREAM_FIXED_FILE_OFFSET) {
    request->file_offset = *request->file_offset_at;
  }
  if (now & CU_FILE_STREAM_FIXED_BUF_OFFSET) {
    request->base_offset = *request->base_offset_at;
  }
}

static int check_aligned(const struct request *request) {
  size_t all = request->size | (size_t) request->file_offset | (size_t) request->base_offset;
  if ((request->flags & CU_FILE_STREAM_PAGE_ALIGNED_INPUTS) == 0 || all % ALIGNMENT == 0) {
    return 0;
  }
  kve_misuse("%s: the stream was registered for aligned inputs, and these are not", request->operation.name);
  return CU_FILE_INVALID_VALUE;
}

static void run(struct work *work) {
  struct request *request = work->data;
  char *touchable = NULL;
  read_inputs(request, ~request->flags);
  kve_acquire();
  int code = check_aligned(request);
  if (code == 0) {
    code = kve_operation_range(&request->operation, request->size, request->file_offset, request->base_offset, &touchable);
  }
  kve_release_lock();
  *request->moved_at =
      code != 0 ? -code : kve_operation_move(&request->operation, touchable, request->size, request->file_offset, work->planned);
}

static void done(struct work *work) { kve_operation_end(&((struct request *) work->data)->operation); }

/* The values and the result may lie in pinned memory, which must not go away meanwhile. */
static void use_inputs(struct work *work, const struct request *request) {
  const void *inputs[] = {request->size_at, request->file_offset_at, request->base_offset_at, request->moved_at};
  for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++) {
    kve_work_uses(work, kve_memory_at((uintptr_t) inputs[i]));
  }
  kve_work_uses(work, request->operation.memory);
}

static int submit(const char *name, struct request request, CUfileHandle_t file, void *base, bool write, CUstream handle) {
  struct stream *stream = kve_stream(handle, name);
  if (stream == NULL || request.size_at == NULL || request.file_offset_at == NULL || request.base_offset_at == NULL
      || request.moved_at == NULL) {
    return CU_FILE_INVALID_VALUE;
  }
  int code = kve_operation_prepare(&request.operation, name, file, base, write);
  if (code != 0) {
    *request.moved_at = -code;
    return code == EINVAL || code == EBADF ? CU_FILE_INVALID_VALUE : code;
  }
  request.flags = stream->file_flags;
  read_inputs(&request, request.flags);
  struct work *work = kve_work(name, run, sizeof(request));
  *(struct request *) work->data = request;
  work->done = done;
  work->takes_plan = true;
  use_inputs(work, &request);
  kve_submit(stream, work);
  return CU_FILE_SUCCESS;
}

CUfileError_t cuFileReadAsync(
    CUfileHandle_t file, void *base, size_t *size, off_t *file_offset, off_t *base_offset, ssize_t *moved, CUstream stream) {
  FILE_ENTER();
  struct request request = {.size_at = size, .file_offset_at = file_offset, .base_offset_at = base_offset, .moved_at = moved};
  return kve_file_leave(submit(__func__, request, file, base, false, stream));
}

CUfileError_t cuFileWriteAsync(
    CUfileHandle_t file, void *base, size_t *size, off_t *file_offset, off_t *base_offset, ssize_t *moved, CUstream stream) {
  FILE_ENTER();
  struct request request = {.size_at = size, .file_offset_at = file_offset, .base_offset_at = base_offset, .moved_at = moved};
  return kve_file_leave(submit(__func__, request, file, base, true, stream));
}
