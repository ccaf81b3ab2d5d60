/* What the end of a process tells: "stray" touches device memory, "leak" releases nothing, "clean" everything. */
#include "checks.h"

int main(int count, char **arguments) {
  CHECK(count == 2);
  char *memory = new_memory();
  cudaStream_t stream = new_stream();
  if (strcmp(arguments[1], "stray") == 0) {
    *(volatile char *) memory = 1;
  }
  if (strcmp(arguments[1], "clean") == 0) {
    OK(cudaFree(memory));
    OK(cudaStreamDestroy(stream));
  }
  return 0;
}
