/*
 * Preloaded into a test's process: whoever opens /proc/modules gets the file that the variable KVTIER_MODULES names.
 * A kernel without loadable modules has no such file, and cuFile never returns from the open of its driver there.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *mapped(const char *path) {
  const char *file = getenv("KVTIER_MODULES");
  return path && file && !strcmp(path, "/proc/modules") ? file : path;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

FILE *fopen(const char *path, const char *mode) {
  return NEXT(fopen)(mapped(path), mode);
}

FILE *fopen64(const char *path, const char *mode) {
  return NEXT(fopen64)(mapped(path), mode);
}

#define OPEN(name)                                                                                                    \
  int name(const char *path, int flags, ...) {                                                                        \
    va_list rest;                                                                                                     \
    va_start(rest, flags);                                                                                            \
    int mode = va_arg(rest, int);                                                                                     \
    va_end(rest);                                                                                                     \
    return NEXT(name)(mapped(path), flags, mode);                                                                     \
  }

OPEN(open)
OPEN(open64)

int access(const char *path, int mode) {
  return NEXT(access)(mapped(path), mode);
}

int stat(const char *path, struct stat *out) {
  return NEXT(stat)(mapped(path), out);
}

int stat64(const char *path, struct stat64 *out) {
  return NEXT(stat64)(mapped(path), out);
}
