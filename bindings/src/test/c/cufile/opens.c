/*
 * Stands for a cuFile whose driver does what the variable KVTIER_OPEN says when it is opened: "spin" for ever, "crash", "refuse"
 * with a code, or open.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define timespec kvtier_timespec
#include "cufile.h"
#undef timespec

CUfileError_t cuFileDriverOpen(void) {
  const char *how = getenv("KVTIER_OPEN");
  volatile int for_ever = how != NULL && strcmp(how, "spin") == 0;
  while (for_ever) {
  }
  if (how != NULL && strcmp(how, "crash") == 0) {
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
  }
  int refuses = how != NULL && strcmp(how, "refuse") == 0;
  return (CUfileError_t){refuses ? CU_FILE_PLATFORM_NOT_SUPPORTED : CU_FILE_SUCCESS, 0};
}

CUfileError_t cuFileDriverClose(void) { return (CUfileError_t){CU_FILE_SUCCESS, 0}; }

CUfileError_t cuFileHandleRegister(CUfileHandle_t *file, CUfileDescr_t *description) {
  (void) file;
  (void) description;
  return (CUfileError_t){CU_FILE_DRIVER_NOT_INITIALIZED, 0};
}

ssize_t cuFileRead(CUfileHandle_t file, void *base, size_t size, off_t file_offset, off_t base_offset) {
  (void) file;
  (void) base;
  (void) size;
  (void) file_offset;
  (void) base_offset;
  return -1;
}
