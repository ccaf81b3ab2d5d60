/* Reports of misuse, and the list of what was not released. */
#include "emulator.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_REPORTS 200
#define REPORT_SIZE 320

void kve_forget_plans(void);
long kve_list_plans(void (*line)(void *context, const char *text), void *context);
long kve_list_handles(void (*line)(void *context, const char *text), void *context);
void kve_let_go(void);

static char reports[MAX_REPORTS][REPORT_SIZE];
static int report_count;

static bool is_known(const char *text) {
  for (int i = 0; i < report_count; i++) {
    if (strcmp(reports[i], text) == 0) {
      return true;
    }
  }
  return false;
}

/* The same thing is reported once. */
static void add(const char *prefix, const char *format, va_list arguments) {
  char text[REPORT_SIZE];
  int length = snprintf(text, REPORT_SIZE, "%s: ", prefix);
  vsnprintf(text + length, (size_t) (REPORT_SIZE - length), format, arguments);
  if (report_count < MAX_REPORTS && !is_known(text)) {
    strcpy(reports[report_count++], text);
  }
}

void kve_misuse(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add("misuse", format, arguments);
  va_end(arguments);
}

void kve_note(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add("note", format, arguments);
  va_end(arguments);
}

struct text {
  char *start;
  size_t room;
  size_t length;
};

static void append(void *context, const char *line) {
  struct text *text = context;
  size_t length = strlen(line);
  if (text->length + length + 2 <= text->room) {
    memcpy(text->start + text->length, line, length);
    text->start[text->length + length] = '\n';
    text->length += length + 1;
    text->start[text->length] = '\0';
  }
}

static long list_live(struct text *text) {
  long live = kve_list_handles(append, text);
  struct memory *memory;
  for (size_t i = 0; (memory = kve_memory_get(i)) != NULL; i++) {
    if (memory->gone) {
      continue;
    }
    char line[REPORT_SIZE];
    snprintf(line, sizeof(line), "live: %s", kve_memory_name(memory));
    append(text, line);
    live++;
  }
  return live;
}

long kvtier_emulator_live(void) {
  struct text nowhere = {NULL, 0, 0};
  kve_acquire();
  long live = list_live(&nowhere);
  kve_release_lock();
  return live;
}

long kvtier_emulator_report(char *start, long size) {
  struct text text = {start, (size_t) size, 0};
  if (size > 0) {
    *start = '\0';
  }
  kve_acquire();
  for (int i = 0; i < report_count; i++) {
    append(&text, reports[i]);
  }
  long lines = report_count + list_live(&text) + kve_list_plans(append, &text);
  kve_release_lock();
  return lines;
}

void kvtier_emulator_forget_reports(void) {
  kve_acquire();
  report_count = 0;
  kve_release_lock();
}

void kvtier_emulator_reset(void) {
  kve_acquire();
  report_count = 0;
  kve_forget_plans();
  kve_let_go();
  kve_release_lock();
}

static void tell(FILE *file, long live, const char *text) {
  fprintf(file, "kvtier emulator: %ld objects were not released: %s", live, live == 0 ? "none\n" : "\n");
  fputs(text, file);
  fflush(file);
}

/* The threads of the streams may hold the lock for ever when the process ends. */
static bool acquire_at_exit(void) {
  struct timespec limit;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += 5;
  return pthread_mutex_timedlock(&kve_lock, &limit) == 0;
}

__attribute__((destructor)) static void tell_at_exit(void) {
  if (!acquire_at_exit()) {
    fputs("kvtier emulator: a call never ended, so nothing is known of what was not released\n", stderr);
    return;
  }
  static char room[1 << 16];
  struct text text = {room, sizeof(room), 0};
  for (int i = 0; i < report_count; i++) {
    append(&text, reports[i]);
  }
  long live = list_live(&text);
  kve_release_lock();
  if (live > 0 || report_count > 0) {
    tell(stderr, live, room);
  }
  const char *path = getenv("KVTIER_EMULATOR_REPORT");
  FILE *file = path == NULL ? NULL : fopen(path, "w");
  if (file != NULL) {
    tell(file, live, room);
    fclose(file);
  }
}
