/* Copies as pieces of work. */
#ifndef KVTIER_EMULATOR_COPIES_H
#define KVTIER_EMULATOR_COPIES_H

#include "emulator.h"

struct piece {
  char *to;
  const char *from;
  size_t width;
  size_t height;
  size_t depth;
  size_t to_pitch;
  size_t from_pitch;
  size_t to_slice;
  size_t from_slice;
  char *staging;
};

struct copy {
  bool synchronous;
  size_t count;
  struct piece pieces[];
};

enum memcpy_side { SIDE_TO, SIDE_FROM };
enum staging { STAGE_NEVER, STAGE_PAGEABLE, STAGE_ALWAYS };

static inline struct piece kve_line(void *to, const void *from, size_t size) {
  return (struct piece) {.to = to, .from = from, .width = size, .height = 1, .depth = 1};
}

/* Makes work with room for so many pieces. Locked, as all of these. */
struct work *kve_copy_work(const char *function, size_t count);
/* Checks a piece and adds it. */
cudaError_t kve_copy_add(
    struct work *work, const struct stream *stream, struct piece piece, enum cudaMemcpyKind kind, enum staging staging);
/* Frees work that was not submitted. */
void kve_copy_drop(struct work *work);
void kve_copy_submit(struct stream *stream, struct work *work);
cudaError_t kve_copy_one(const char *function, cudaStream_t stream, struct piece piece, enum cudaMemcpyKind kind);
void kve_copy_run(struct work *work);

#endif
