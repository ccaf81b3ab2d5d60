/*
 * Statistics, which the emulated 13 has. As was seen with cuFile 1.20: they are counted while the level is not 0 and they were not
 * stopped, what was stopped starts again only after the level was 0, and the level is 0 again when the driver closes. Bytes are
 * those asked for.
 */
#include "files.h"

#if EMULATOR_MAJOR >= 13

#define HIGHEST_LEVEL 3

static int level;
static bool stopped;
static CUfileStatsLevel1_t counts;

static bool counting(void) { return level > 0 && !stopped; }

static void forget(void) { counts = (CUfileStatsLevel1_t){0}; }

void kve_count_transfer(bool write, size_t asked, ssize_t moved) {
  if (!counting()) {
    return;
  }
  CUfileOpCounter_t *calls = write ? &counts.write_ops : &counts.read_ops;
  if (moved < 0) {
    calls->err++;
    return;
  }
  calls->ok++;
  *(write ? &counts.write_bytes : &counts.read_bytes) += asked;
  *(write ? &counts.write_lat_sum_us : &counts.read_lat_sum_us) += 1;
}

void kve_count_batched(bool write, size_t asked) {
  if (counting()) {
    *(write ? &counts.batch_write_bytes : &counts.batch_read_bytes) += asked;
  }
}

void kve_statistics_end(void) {
  level = 0;
  stopped = false;
  forget();
}

CUfileError_t cuFileSetStatsLevel(int wanted) {
  FILE_ENTER();
  if (wanted < 0 || wanted > HIGHEST_LEVEL) {
    return kve_file_leave(CU_FILE_INVALID_VALUE);
  }
  if (wanted == 0) {
    stopped = false;
  }
  if (wanted == 0 || level == 0) {
    forget();
  }
  level = wanted;
  return kve_file_leave(CU_FILE_SUCCESS);
}

static int if_open(int code) { return kve_driver_is_open() ? code : CU_FILE_DRIVER_NOT_INITIALIZED; }

CUfileError_t cuFileStatsStart(void) {
  FILE_ENTER();
  return kve_file_leave(if_open(counting() ? CU_FILE_SUCCESS : CU_FILE_INTERNAL_ERROR));
}

CUfileError_t cuFileStatsStop(void) {
  FILE_ENTER();
  stopped = kve_driver_is_open();
  return kve_file_leave(if_open(CU_FILE_SUCCESS));
}

CUfileError_t cuFileStatsReset(void) {
  FILE_ENTER();
  forget();
  return kve_file_leave(if_open(CU_FILE_SUCCESS));
}

CUfileError_t cuFileGetStatsL1(CUfileStatsLevel1_t *statistics) {
  FILE_ENTER();
  int code = if_open(counting() && statistics != NULL ? CU_FILE_SUCCESS : CU_FILE_INVALID_VALUE);
  if (code == CU_FILE_SUCCESS) {
    *statistics = counts;
  }
  return kve_file_leave(code);
}

#else

void kve_count_transfer(bool write, size_t asked, ssize_t moved) {
  (void) write;
  (void) asked;
  (void) moved;
}

void kve_count_batched(bool write, size_t asked) {
  (void) write;
  (void) asked;
}

void kve_statistics_end(void) {}

#endif
