/* What the test programs share: a check that ends the program, and the emulator's report. */
#ifndef KVTIER_EMULATOR_CHECKS_H
#define KVTIER_EMULATOR_CHECKS_H

#include "emulator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                                         \
  do {                                                                                                                           \
    if (!(condition)) {                                                                                                          \
      fprintf(stderr, "%s:%d: not true: %s\n%s", __FILE__, __LINE__, #condition, report());                                      \
      exit(1);                                                                                                                   \
    }                                                                                                                            \
  } while (0)

#define OK(call) CHECK((call) == cudaSuccess)

static inline const char *report(void) {
  static char text[1 << 16];
  kvtier_emulator_report(text, sizeof(text));
  return text;
}

static inline bool reported(const char *words) { return strstr(report(), words) != NULL; }

/* Checks that a rule was broken as told, that nothing else was, and forgets it. */
#define MISUSE(words)                                                                                                            \
  do {                                                                                                                           \
    CHECK(reported("misuse: "));                                                                                                 \
    CHECK(reported(words));                                                                                                      \
    kvtier_emulator_forget_reports();                                                                                            \
  } while (0)

/* Checks that a test leaves nothing behind. */
#define CLEAN()                                                                                                                  \
  do {                                                                                                                           \
    CHECK(!reported("misuse: "));                                                                                                \
    CHECK(!reported("plan: "));                                                                                                  \
    CHECK(kvtier_emulator_live() == 0);                                                                                          \
    kvtier_emulator_reset();                                                                                                     \
  } while (0)

#define SIZE 65536UL

static inline cudaStream_t new_stream(void) {
  cudaStream_t stream;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

static inline char *new_memory(void) {
  void *memory;
  OK(cudaMalloc(&memory, SIZE));
  return memory;
}

static inline char *new_pinned(void) {
  void *memory;
  OK(cudaHostAlloc(&memory, SIZE, cudaHostAllocDefault));
  return memory;
}

#endif
