/* Memory and events go from process to process. The program is its own second process: it is given the two handles in
 * hexadecimal. */
#include "checks.h"

#include <sys/wait.h>
#include <unistd.h>

#define HANDLE_SIZE 64

static void print(char *text, const void *handle) {
  for (int i = 0; i < HANDLE_SIZE; i++) {
    sprintf(text + 2 * i, "%02x", ((const unsigned char *) handle)[i]);
  }
}

static void parse(void *handle, const char *text) {
  for (int i = 0; i < HANDLE_SIZE; i++) {
    unsigned int byte;
    CHECK(sscanf(text + 2 * i, "%2x", &byte) == 1);
    ((unsigned char *) handle)[i] = (unsigned char) byte;
  }
}

/* Waits for the other's event, reads what it wrote, and writes back. */
static int second(const char *memory_text, const char *event_text) {
  cudaIpcMemHandle_t memory_handle;
  cudaIpcEventHandle_t event_handle;
  parse(&memory_handle, memory_text);
  parse(&event_handle, event_text);
  void *memory;
  void *again;
  cudaEvent_t event;
  CHECK(cudaIpcOpenMemHandle(&memory, memory_handle, 0) == cudaErrorInvalidValue);
  OK(cudaIpcOpenMemHandle(&memory, memory_handle, cudaIpcMemLazyEnablePeerAccess));
  OK(cudaIpcOpenMemHandle(&again, memory_handle, cudaIpcMemLazyEnablePeerAccess));
  CHECK(memory == again);
  OK(cudaIpcOpenEventHandle(&event, event_handle));
  cudaStream_t stream = new_stream();
  char *pinned = new_pinned();
  OK(cudaStreamWaitEvent(stream, event, 0));
  OK(cudaMemcpyAsync(pinned, memory, SIZE, cudaMemcpyDeviceToHost, stream));
  OK(cudaMemsetAsync(memory, 2, SIZE, stream));
  OK(cudaStreamSynchronize(stream));
  CHECK(pinned[0] == 1 && pinned[SIZE - 1] == 1);
  CHECK(cudaFree(memory) == cudaErrorInvalidValue);
  MISUSE("belongs to another process");
  OK(cudaIpcCloseMemHandle(memory));
  OK(cudaIpcCloseMemHandle(memory));
  CHECK(cudaIpcCloseMemHandle(memory) == cudaErrorInvalidValue);
  MISUSE("was not opened by a handle");
  OK(cudaEventDestroy(event));
  OK(cudaFreeHost(pinned));
  OK(cudaStreamDestroy(stream));
  CLEAN();
  return 0;
}

static void first(const char *program) {
  char *memory = new_memory();
  cudaStream_t stream = new_stream();
  cudaEvent_t event;
  CHECK(cudaEventCreateWithFlags(&event, cudaEventInterprocess) == cudaErrorInvalidValue);
  OK(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
  cudaIpcMemHandle_t memory_handle;
  cudaIpcEventHandle_t event_handle;
  OK(cudaIpcGetMemHandle(&memory_handle, memory));
  OK(cudaIpcGetEventHandle(&event_handle, event));
  void *same;
  CHECK(cudaIpcOpenMemHandle(&same, memory_handle, cudaIpcMemLazyEnablePeerAccess) == cudaErrorDeviceUninitialized);
  kvtier_emulator_hold_streams(1);
  OK(cudaMemsetAsync(memory, 1, SIZE, stream));
  OK(cudaEventRecord(event, stream));
  char memory_text[2 * HANDLE_SIZE + 1];
  char event_text[2 * HANDLE_SIZE + 1];
  print(memory_text, &memory_handle);
  print(event_text, &event_handle);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    execl(program, program, memory_text, event_text, (char *) NULL);
    _exit(127);
  }
  kvtier_emulator_hold_streams(0);
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  char last;
  kvtier_emulator_peek((unsigned long) memory + SIZE - 1, &last, 1);
  CHECK(last == 2);
  OK(cudaFree(memory));
  OK(cudaEventDestroy(event));
  OK(cudaStreamDestroy(stream));
  CLEAN();
}

int main(int count, char **arguments) {
  if (count == 3) {
    return second(arguments[1], arguments[2]);
  }
  first(arguments[0]);
  puts("all well");
  return 0;
}
