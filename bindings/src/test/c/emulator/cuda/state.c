/* The lock, the errors of each thread, and the fault plans. */
#include "emulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PLANS 64
#define MAX_FUNCTIONS 256
#define NAME_SIZE 64

enum plan_kind { PLAN_FAIL, PLAN_SHORT, PLAN_STALL };

struct plan {
  char function[NAME_SIZE];
  long nth;
  enum plan_kind kind;
  long value;
};

struct count {
  char function[NAME_SIZE];
  long calls;
};

pthread_mutex_t kve_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t kve_progress = PTHREAD_COND_INITIALIZER;
_Thread_local bool kve_in_host_function;
bool kve_compat;

static _Thread_local cudaError_t last_error;
static cudaError_t lost;
static struct plan plans[MAX_PLANS];
static int plan_count;
static struct count counts[MAX_FUNCTIONS];
static int count_count;
static long stalled;
static unsigned long releases;

void kve_acquire(void) { pthread_mutex_lock(&kve_lock); }

void kve_release_lock(void) { pthread_mutex_unlock(&kve_lock); }

/* ---- plans ---- */

static void plan(const char *function, long nth, enum plan_kind kind, long value) {
  kve_acquire();
  if (plan_count == MAX_PLANS || nth < 1) {
    fprintf(stderr, "kvtier emulator: plan for %s (use %ld) refused\n", function, nth);
    abort();
  }
  struct plan *added = &plans[plan_count++];
  snprintf(added->function, NAME_SIZE, "%s", function);
  added->nth = nth;
  added->kind = kind;
  added->value = value;
  kve_release_lock();
}

void kvtier_emulator_fail(const char *function, long nth, int code) { plan(function, nth, PLAN_FAIL, code); }

void kvtier_emulator_short(const char *function, long nth, long bytes) { plan(function, nth, PLAN_SHORT, bytes); }

void kvtier_emulator_stall(const char *function, long nth) { plan(function, nth, PLAN_STALL, 0); }

static void release_stalled(void) {
  releases++;
  pthread_cond_broadcast(&kve_progress);
}

void kvtier_emulator_release(void) {
  kve_acquire();
  release_stalled();
  kve_release_lock();
}

void kvtier_emulator_compat(int compat) {
  kve_acquire();
  kve_compat = compat != 0;
  kve_release_lock();
}

long kvtier_emulator_stalled(void) {
  kve_acquire();
  long now = stalled;
  kve_release_lock();
  return now;
}

static void count_call(const char *function) {
  int i = 0;
  while (i < count_count && strcmp(counts[i].function, function) != 0) {
    i++;
  }
  if (i == MAX_FUNCTIONS) {
    return;
  }
  if (i == count_count) {
    snprintf(counts[i].function, NAME_SIZE, "%s", function);
    counts[i].calls = 0;
    count_count++;
  }
  counts[i].calls++;
}

long kvtier_emulator_calls(const char *function) {
  kve_acquire();
  long calls = 0;
  for (int i = 0; i < count_count; i++) {
    if (strcmp(counts[i].function, function) == 0) {
      calls = counts[i].calls;
    }
  }
  kve_release_lock();
  return calls;
}

static void stall(void) {
  unsigned long seen = releases;
  stalled++;
  pthread_cond_broadcast(&kve_progress);
  while (releases == seen) {
    pthread_cond_wait(&kve_progress, &kve_lock);
  }
  stalled--;
}

struct plan_result kve_use(const char *function) {
  struct plan_result result = {false, 0, -1};
  bool stalls = false;
  kve_acquire();
  count_call(function);
  for (int i = 0; i < plan_count;) {
    struct plan *candidate = &plans[i];
    if (strcmp(candidate->function, function) != 0 || --candidate->nth > 0) {
      i++;
      continue;
    }
    if (candidate->kind == PLAN_FAIL) {
      result.fails = true;
      result.code = (int) candidate->value;
    } else if (candidate->kind == PLAN_SHORT) {
      result.most = candidate->value;
    } else {
      stalls = true;
    }
    *candidate = plans[--plan_count];
  }
  if (stalls) {
    stall();
  }
  kve_release_lock();
  return result;
}

/* Writes one line per plan that did not fire yet; returns their number. Locked. */
long kve_list_plans(void (*line)(void *context, const char *text), void *context) {
  static const char *const WHAT[] = {"fail", "come back short", "stall"};
  for (int i = 0; i < plan_count; i++) {
    char text[160];
    snprintf(
        text, sizeof(text), "plan: use %ld of %.63s from now is to %s", plans[i].nth, plans[i].function, WHAT[plans[i].kind]);
    line(context, text);
  }
  return plan_count;
}

/* Called by kvtier_emulator_reset. Locked. */
void kve_forget_plans(void) {
  plan_count = 0;
  count_count = 0;
  lost = cudaSuccess;
  release_stalled();
}

/* ---- errors ---- */

bool kve_is_fatal(int code) {
  return code == cudaErrorECCUncorrectable || code == cudaErrorIllegalAddress || code == cudaErrorLaunchTimeout
         || code == cudaErrorLaunchFailure;
}

void kve_lose_context(cudaError_t status) {
  if (lost == cudaSuccess) {
    lost = status;
  }
}

cudaError_t kve_lost(void) { return lost; }

static cudaError_t remember(cudaError_t status) {
  if (status != cudaSuccess) {
    last_error = status;
  }
  return status;
}

static cudaError_t absence(const char *function) {
  if (kve_in_host_function) {
    kve_misuse("%s was called by a host function of a stream", function);
    return cudaErrorNotPermitted;
  }
  if (kve_device_count() < 0) {
    return cudaErrorInsufficientDriver;
  }
  if (kve_device_count() == 0) {
    return cudaErrorNoDevice;
  }
  return cudaSuccess;
}

/* Takes the lock unless the call cannot even begin. */
static cudaError_t begin(const char *function, cudaError_t *planned) {
  struct plan_result result = kve_use(function);
  kve_acquire();
  *planned = result.fails ? (cudaError_t) result.code : cudaSuccess;
  if (kve_is_fatal(*planned)) {
    kve_lose_context(*planned);
  }
  cudaError_t absent = absence(function);
  if (absent != cudaSuccess) {
    kve_release_lock();
  }
  return remember(absent);
}

cudaError_t kve_enter(const char *function) {
  cudaError_t planned;
  cudaError_t absent = begin(function, &planned);
  if (absent != cudaSuccess) {
    return absent;
  }
  cudaError_t refused = planned != cudaSuccess ? planned : lost;
  if (refused != cudaSuccess) {
    kve_release_lock();
  }
  return remember(refused);
}

cudaError_t kve_enter_to_release(const char *function, cudaError_t *planned) { return begin(function, planned); }

cudaError_t kve_leave(cudaError_t status) {
  if (status == cudaSuccess) {
    status = lost;
  }
  kve_release_lock();
  return remember(status);
}

static cudaError_t peek_error(const char *function) {
  struct plan_result planned = kve_use(function);
  if (planned.fails) {
    return (cudaError_t) planned.code;
  }
  kve_acquire();
  cudaError_t status = kve_device_count() < 0 ? cudaErrorInsufficientDriver : lost != cudaSuccess ? lost : last_error;
  kve_release_lock();
  return status;
}

cudaError_t cudaPeekAtLastError(void) { return peek_error(__func__); }

cudaError_t cudaGetLastError(void) {
  cudaError_t status = peek_error(__func__);
  last_error = cudaSuccess;
  return status;
}
