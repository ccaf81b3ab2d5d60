/* The driver: opened by a call, or by the first registration, and counted. */
#include "files.h"

#define VERSION (EMULATOR_MAJOR == 12 ? 1140 : 1200)
#define CODE_OF_CUDA 700

static long users;
static bool direct;

static CUfileError_t error(int code, int cuda) { return (CUfileError_t){(CUfileOpError) code, cuda}; }

bool kve_file_enter(const char *function, CUfileError_t *refused) {
  struct plan_result planned = kve_use(function);
  if (planned.fails) {
    *refused = error(planned.code, planned.code == CU_FILE_CUDA_DRIVER_ERROR ? CODE_OF_CUDA : 0);
    return false;
  }
  kve_acquire();
  if (kve_lost() != cudaSuccess) {
    *refused = error(CU_FILE_CUDA_DRIVER_ERROR, (int) kve_lost());
    kve_release_lock();
    return false;
  }
  return true;
}

CUfileError_t kve_file_leave(int code) {
  kve_release_lock();
  return error(code, 0);
}

CUfileError_t kve_file_leave_released(const struct plan_result *planned, int code) {
  kve_release_lock();
  return error(planned->fails ? planned->code : code, 0);
}

bool kve_driver_is_open(void) { return users > 0; }

bool kve_driver_is_direct(void) { return direct; }

size_t kve_batch_limit(void) { return kve_parameter_size(CUFILE_PARAM_PROPERTIES_IO_BATCHSIZE); }

static int open_driver(void) {
  if (users == 0) {
    int code = kve_parameters_settle();
    if (code != 0) {
      return code;
    }
    direct = !kve_compat && !kve_parameter_bool(CUFILE_PARAM_FORCE_COMPAT_MODE);
    if (!direct && !kve_parameter_bool(CUFILE_PARAM_PROPERTIES_ALLOW_COMPAT_MODE)) {
      return CU_FILE_NVFS_SETUP_ERROR;
    }
  }
  users++;
  return CU_FILE_SUCCESS;
}

int kve_driver_needed(void) { return users > 0 ? CU_FILE_SUCCESS : open_driver(); }

CUfileError_t cuFileDriverOpen(void) {
  FILE_ENTER();
  return kve_file_leave(open_driver());
}

static CUfileError_t close_driver(const char *function) {
  struct plan_result planned = kve_use(function);
  kve_acquire();
  if (users == 0) {
    return kve_file_leave_released(&planned, CU_FILE_DRIVER_NOT_INITIALIZED);
  }
  if (--users == 0) {
    kve_files_drop();
    kve_statistics_end();
  }
  return kve_file_leave_released(&planned, CU_FILE_SUCCESS);
}

CUfileError_t cuFileDriverClose(void) { return close_driver(__func__); }

CUfileError_t cuFileDriverClose_v2(void) { return close_driver(__func__); }

long cuFileUseCount(void) {
  struct plan_result planned = kve_use(__func__);
  kve_acquire();
  long count = planned.fails ? planned.code : users;
  kve_release_lock();
  return count;
}

CUfileError_t cuFileGetVersion(int *version) {
  FILE_ENTER();
  if (version == NULL) {
    return kve_file_leave(CU_FILE_INVALID_VALUE);
  }
  *version = VERSION;
  return kve_file_leave(CU_FILE_SUCCESS);
}

/* ---- properties ---- */

static unsigned int bit(int number) { return 1U << number; }

static unsigned int size_property(CUFileSizeTConfigParameter_t parameter) { return (unsigned int) kve_parameter_size(parameter); }

static void describe(CUfileDrvProps_t *properties) {
  bool poll = kve_parameter_bool(CUFILE_PARAM_PROPERTIES_USE_POLL_MODE);
  bool compat = kve_parameter_bool(CUFILE_PARAM_PROPERTIES_ALLOW_COMPAT_MODE);
  bool loaded = users > 0 && direct;
  *properties = (CUfileDrvProps_t){
      .nvfs =
          {.major_version = loaded ? 2 : 0,
           .minor_version = loaded ? 26 : 0,
           .poll_thresh_size = kve_parameter_size(CUFILE_PARAM_POLLTHRESHOLD_SIZE_KB),
           .max_direct_io_size = kve_parameter_size(CUFILE_PARAM_PROPERTIES_MAX_DIRECT_IO_SIZE_KB),
           .dstatusflags = loaded ? bit(CU_FILE_NVME_SUPPORTED) : 0,
           .dcontrolflags = (poll ? bit(CU_FILE_USE_POLL_MODE) : 0) | (compat ? bit(CU_FILE_ALLOW_COMPAT_MODE) : 0)},
      .fflags = users > 0 ? 0xf : 0,
      .max_device_cache_size = size_property(CUFILE_PARAM_PROPERTIES_MAX_DEVICE_CACHE_SIZE_KB),
      .per_buffer_cache_size = size_property(CUFILE_PARAM_PROPERTIES_PER_BUFFER_CACHE_SIZE_KB),
      .max_device_pinned_mem_size = size_property(CUFILE_PARAM_PROPERTIES_MAX_DEVICE_PINNED_MEM_SIZE_KB),
      .max_batch_io_size = size_property(CUFILE_PARAM_PROPERTIES_IO_BATCHSIZE),
      .max_batch_io_timeout_msecs = size_property(CUFILE_PARAM_PROPERTIES_BATCH_IO_TIMEOUT_MS)};
}

CUfileError_t cuFileDriverGetProperties(CUfileDrvProps_t *properties) {
  FILE_ENTER();
  if (properties == NULL) {
    return kve_file_leave(CU_FILE_INVALID_VALUE);
  }
  describe(properties);
  return kve_file_leave(CU_FILE_SUCCESS);
}

CUfileError_t cuFileDriverSetPollMode(_Bool poll, size_t threshold) {
  FILE_ENTER();
  if (threshold % 4 != 0) {
    return kve_file_leave(CU_FILE_INVALID_VALUE);
  }
  kve_parameter_set_bool(CUFILE_PARAM_PROPERTIES_USE_POLL_MODE, poll);
  kve_parameter_set_size(CUFILE_PARAM_POLLTHRESHOLD_SIZE_KB, threshold);
  return kve_file_leave(CU_FILE_SUCCESS);
}

/* Sizes are whole pages, in KiB. Locked on entry. */
static CUfileError_t set_size(CUFileSizeTConfigParameter_t parameter, size_t size) {
  if (size == 0 || size % 4 != 0) {
    return kve_file_leave(CU_FILE_INVALID_VALUE);
  }
  kve_parameter_set_size(parameter, size);
  return kve_file_leave(CU_FILE_SUCCESS);
}

CUfileError_t cuFileDriverSetMaxDirectIOSize(size_t size) {
  FILE_ENTER();
  return set_size(CUFILE_PARAM_PROPERTIES_MAX_DIRECT_IO_SIZE_KB, size);
}

CUfileError_t cuFileDriverSetMaxCacheSize(size_t size) {
  FILE_ENTER();
  return set_size(CUFILE_PARAM_PROPERTIES_MAX_DEVICE_CACHE_SIZE_KB, size);
}

CUfileError_t cuFileDriverSetMaxPinnedMemSize(size_t size) {
  FILE_ENTER();
  return set_size(CUFILE_PARAM_PROPERTIES_MAX_DEVICE_PINNED_MEM_SIZE_KB, size);
}
