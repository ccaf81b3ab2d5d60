/* Parameters: set before the driver opens, checked when it does. One that was never set reads as zero before that. */
#include "files.h"

#include <stdio.h>
#include <string.h>

#define SIZES (CUFILE_PARAM_PROPERTIES_BATCH_IO_TIMEOUT_MS + 1)
#define BOOLS (CUFILE_PARAM_STREAM_MEMOPS_BYPASS + 1)
#define STRINGS (CUFILE_PARAM_LOG_DIR + 1)
#define TEXT_SIZE 4096
#define MAX_BATCH 256
#define UNUSED_BOOL 5

static const size_t DEFAULT_SIZES[SIZES] = {
    [CUFILE_PARAM_EXECUTION_MAX_IO_QUEUE_DEPTH] = 128,
    [CUFILE_PARAM_EXECUTION_MAX_IO_THREADS] = 4,
    [CUFILE_PARAM_EXECUTION_MIN_IO_THRESHOLD_SIZE_KB] = 8192,
    [CUFILE_PARAM_EXECUTION_MAX_REQUEST_PARALLELISM] = 4,
    [CUFILE_PARAM_PROPERTIES_MAX_DIRECT_IO_SIZE_KB] = 16384,
    [CUFILE_PARAM_PROPERTIES_MAX_DEVICE_CACHE_SIZE_KB] = 131072,
    [CUFILE_PARAM_PROPERTIES_PER_BUFFER_CACHE_SIZE_KB] = 1024,
    [CUFILE_PARAM_PROPERTIES_MAX_DEVICE_PINNED_MEM_SIZE_KB] = 33554432,
    [CUFILE_PARAM_PROPERTIES_IO_BATCHSIZE] = 128,
    [CUFILE_PARAM_POLLTHRESHOLD_SIZE_KB] = 4,
    [CUFILE_PARAM_PROPERTIES_BATCH_IO_TIMEOUT_MS] = 5};
static const bool DEFAULT_BOOLS[BOOLS] = {
    [CUFILE_PARAM_PROPERTIES_ALLOW_COMPAT_MODE] = true,
    [CUFILE_PARAM_EXECUTION_PARALLEL_IO] = true,
    [CUFILE_PARAM_PROPERTIES_ALLOW_SYSTEM_MEMORY] = true};

static size_t sizes[SIZES];
static bool size_set[SIZES];
static bool bools[BOOLS];
static bool bool_set[BOOLS];
static char strings[STRINGS][TEXT_SIZE];

size_t kve_parameter_size(CUFileSizeTConfigParameter_t parameter) {
  return size_set[parameter] ? sizes[parameter] : DEFAULT_SIZES[parameter];
}

bool kve_parameter_bool(CUFileBoolConfigParameter_t parameter) {
  return bool_set[parameter] ? bools[parameter] : DEFAULT_BOOLS[parameter];
}

void kve_parameter_set_size(CUFileSizeTConfigParameter_t parameter, size_t value) {
  sizes[parameter] = value;
  size_set[parameter] = true;
}

void kve_parameter_set_bool(CUFileBoolConfigParameter_t parameter, bool value) {
  bools[parameter] = value;
  bool_set[parameter] = true;
}

int kve_parameters_settle(void) {
  size_t batch = kve_parameter_size(CUFILE_PARAM_PROPERTIES_IO_BATCHSIZE);
  size_t buffers = kve_parameter_size(CUFILE_PARAM_PROPERTIES_MAX_DEVICE_CACHE_SIZE_KB);
  size_t buffer = kve_parameter_size(CUFILE_PARAM_PROPERTIES_PER_BUFFER_CACHE_SIZE_KB);
  bool valid = batch >= 1 && batch <= MAX_BATCH && buffer > 0 && buffers / buffer >= batch;
  return valid ? CU_FILE_SUCCESS : CU_FILE_DRIVER_INVALID_PROPS;
}

static int settable(bool known) {
  if (kve_driver_is_open()) {
    return CU_FILE_DRIVER_ALREADY_OPEN;
  }
  return known ? CU_FILE_SUCCESS : CU_FILE_INVALID_VALUE;
}

static bool is_size(CUFileSizeTConfigParameter_t parameter) { return (unsigned int) parameter < SIZES; }

static bool is_bool(CUFileBoolConfigParameter_t parameter) {
  return (unsigned int) parameter < BOOLS && parameter != UNUSED_BOOL;
}

static bool is_string(CUFileStringConfigParameter_t parameter) { return (unsigned int) parameter < STRINGS; }

CUfileError_t cuFileSetParameterSizeT(CUFileSizeTConfigParameter_t parameter, size_t value) {
  FILE_ENTER();
  int code = settable(is_size(parameter));
  if (code == CU_FILE_SUCCESS) {
    kve_parameter_set_size(parameter, value);
  }
  return kve_file_leave(code);
}

CUfileError_t cuFileSetParameterBool(CUFileBoolConfigParameter_t parameter, _Bool value) {
  FILE_ENTER();
  int code = settable(is_bool(parameter));
  if (code == CU_FILE_SUCCESS) {
    kve_parameter_set_bool(parameter, value);
  }
  return kve_file_leave(code);
}

CUfileError_t cuFileSetParameterString(CUFileStringConfigParameter_t parameter, const char *value) {
  FILE_ENTER();
  int code = settable(is_string(parameter) && value != NULL && strlen(value) < TEXT_SIZE);
  if (code == CU_FILE_SUCCESS) {
    snprintf(strings[parameter], TEXT_SIZE, "%s", value);
  }
  return kve_file_leave(code);
}

CUfileError_t cuFileGetParameterSizeT(CUFileSizeTConfigParameter_t parameter, size_t *value) {
  FILE_ENTER();
  if (!is_size(parameter) || value == NULL) {
    return kve_file_leave(CU_FILE_INVALID_VALUE);
  }
  *value = kve_driver_is_open() ? kve_parameter_size(parameter) : sizes[parameter];
  return kve_file_leave(CU_FILE_SUCCESS);
}

CUfileError_t cuFileGetParameterBool(CUFileBoolConfigParameter_t parameter, _Bool *value) {
  FILE_ENTER();
  if (!is_bool(parameter) || value == NULL) {
    return kve_file_leave(CU_FILE_INVALID_VALUE);
  }
  *value = kve_driver_is_open() ? kve_parameter_bool(parameter) : bools[parameter];
  return kve_file_leave(CU_FILE_SUCCESS);
}

CUfileError_t cuFileGetParameterString(CUFileStringConfigParameter_t parameter, char *value, int length) {
  FILE_ENTER();
  if (!is_string(parameter) || value == NULL || length <= (int) strlen(strings[parameter])) {
    return kve_file_leave(CU_FILE_INVALID_VALUE);
  }
  strcpy(value, strings[parameter]);
  return kve_file_leave(CU_FILE_SUCCESS);
}
