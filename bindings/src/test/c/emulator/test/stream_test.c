/* The emulated streams keep their order, and the rules of memory in use; planned faults come when they were planned. */
#include "checks.h"

#include <pthread.h>
#include <unistd.h>

static cudaEvent_t new_event(unsigned int flags) {
  cudaEvent_t event;
  OK(cudaEventCreateWithFlags(&event, flags));
  return event;
}

/* ---- order ---- */

static void in_order(void) {
  cudaStream_t first = new_stream();
  cudaStream_t second = new_stream();
  cudaEvent_t event = new_event(cudaEventDefault);
  cudaEvent_t later = new_event(cudaEventDefault);
  char *device = new_memory();
  char *pinned = new_pinned();
  OK(cudaEventQuery(event));
  kvtier_emulator_hold_streams(1);
  OK(cudaMemsetAsync(device, 1, SIZE, first));
  OK(cudaEventRecord(event, first));
  OK(cudaStreamWaitEvent(second, event, 0));
  OK(cudaMemcpyAsync(pinned, device, SIZE, cudaMemcpyDeviceToHost, second));
  OK(cudaEventRecord(later, second));
  CHECK(cudaStreamQuery(second) == cudaErrorNotReady);
  CHECK(cudaGetLastError() == cudaErrorNotReady);
  CHECK(cudaEventQuery(event) == cudaErrorNotReady);
  float milliseconds;
  CHECK(cudaEventElapsedTime(&milliseconds, event, later) == cudaErrorNotReady);
  cudaGetLastError();
  kvtier_emulator_hold_streams(0);
  OK(cudaEventSynchronize(later));
  CHECK(pinned[SIZE - 1] == 1);
  OK(cudaEventElapsedTime(&milliseconds, event, later));
  CHECK(milliseconds >= 0);
  OK(cudaStreamSynchronize(first));
  OK(cudaEventDestroy(event));
  OK(cudaEventDestroy(later));
  CHECK(cudaEventQuery(event) == cudaErrorInvalidResourceHandle);
  MISUSE("is no event any more");
  OK(cudaFree(device));
  OK(cudaFreeHost(pinned));
  OK(cudaStreamDestroy(first));
  OK(cudaStreamDestroy(second));
  CLEAN();
}

/* Both may go while they are needed; what is pending goes on. */
static void destroyed_while_pending(void) {
  cudaStream_t stream = new_stream();
  cudaStream_t waiting = new_stream();
  cudaEvent_t event = new_event(cudaEventDisableTiming);
  char *device = new_memory();
  kvtier_emulator_hold_streams(1);
  OK(cudaMemsetAsync(device, 4, SIZE, stream));
  OK(cudaEventRecord(event, stream));
  OK(cudaStreamWaitEvent(waiting, event, 0));
  OK(cudaMemsetAsync(device, 5, 1, waiting));
  OK(cudaEventDestroy(event));
  OK(cudaStreamDestroy(stream));
  kvtier_emulator_hold_streams(0);
  OK(cudaStreamSynchronize(waiting));
  char bytes[2];
  kvtier_emulator_peek((unsigned long) device, bytes, 2);
  CHECK(bytes[0] == 5 && bytes[1] == 4);
  OK(cudaFree(device));
  OK(cudaStreamDestroy(waiting));
  CLEAN();
}

static void ring(void *calls) {
  int *count = calls;
  int device;
  *count += cudaGetDevice(&device) == cudaErrorNotPermitted;
}

static void host_functions(void) {
  cudaStream_t stream = new_stream();
  int count = 0;
  OK(cudaLaunchHostFunc(stream, ring, &count));
  OK(cudaStreamSynchronize(stream));
  CHECK(count == 1);
  MISUSE("was called by a host function");
  OK(cudaStreamDestroy(stream));
  CLEAN();
}

static void legacy_stream(void) {
  cudaStream_t blocking;
  OK(cudaStreamCreateWithFlags(&blocking, cudaStreamDefault));
  char *device = new_memory();
  for (int i = 0; i < 200; i++) {
    OK(cudaMemsetAsync(device, i, SIZE, blocking));
    OK(cudaMemsetAsync(device, i + 1, SIZE, NULL));
    OK(cudaMemsetAsync(device, i + 2, SIZE, blocking));
    OK(cudaStreamSynchronize(blocking));
    char last;
    kvtier_emulator_peek((unsigned long) device + SIZE - 1, &last, 1);
    CHECK(last == (char) (i + 2));
  }
  CHECK(reported("note: cudaMemsetAsync uses the NULL stream"));
  OK(cudaFree(device));
  OK(cudaStreamDestroy(blocking));
  CLEAN();
}

static void memory_in_use(void) {
  cudaStream_t stream = new_stream();
  char *device = new_memory();
  char *pinned = new_pinned();
  char *registered = aligned_alloc(4096, SIZE);
  OK(cudaHostRegister(registered, SIZE, 0));
  kvtier_emulator_hold_streams(1);
  OK(cudaMemcpyAsync(device, pinned, SIZE, cudaMemcpyHostToDevice, stream));
  OK(cudaMemcpyAsync(registered, device, SIZE, cudaMemcpyDeviceToHost, stream));
  OK(cudaHostUnregister(registered));
  MISUSE("registered memory");
  free(registered);
  OK(cudaFree(device));
  MISUSE("is used by pending cudaMemcpyAsync");
  OK(cudaFreeHost(pinned));
  MISUSE("pinned memory");
  kvtier_emulator_hold_streams(0);
  OK(cudaStreamDestroy(stream));
  CLEAN();
}

/* ---- pools ---- */

static uint64_t attribute(cudaMemPool_t pool, enum cudaMemPoolAttr which) {
  uint64_t value = 0;
  OK(cudaMemPoolGetAttribute(pool, which, &value));
  return value;
}

static void pools(void) {
  cudaStream_t stream = new_stream();
  cudaStream_t other = new_stream();
  struct cudaMemPoolProps properties = {.allocType = cudaMemAllocationTypePinned, .location = {cudaMemLocationTypeDevice, 0}};
  cudaMemPool_t pool;
  OK(cudaMemPoolCreate(&pool, &properties));
  uint64_t threshold = SIZE;
  OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  void *memory;
  OK(cudaMallocFromPoolAsync(&memory, 2 * SIZE, pool, stream));
  CHECK(attribute(pool, cudaMemPoolAttrUsedMemCurrent) == 2 * SIZE);
  OK(cudaMemsetAsync(memory, 1, SIZE, stream));
  OK(cudaFreeAsync(memory, stream));
  CHECK(cudaMemsetAsync(memory, 1, SIZE, other) == cudaErrorInvalidValue);
  kvtier_emulator_forget_reports();
  OK(cudaStreamSynchronize(stream));
  CHECK(attribute(pool, cudaMemPoolAttrUsedMemCurrent) == 0 && attribute(pool, cudaMemPoolAttrUsedMemHigh) == 2 * SIZE);
  CHECK(attribute(pool, cudaMemPoolAttrReservedMemCurrent) == SIZE);
  size_t free_bytes;
  size_t total;
  OK(cudaMemGetInfo(&free_bytes, &total));
  CHECK(total - free_bytes == SIZE);
  OK(cudaMemPoolTrimTo(pool, 0));
  OK(cudaMemGetInfo(&free_bytes, &total));
  CHECK(total == free_bytes);
  kvtier_emulator_hold_streams(1);
  OK(cudaMallocAsync(&memory, SIZE, stream));
  OK(cudaMemsetAsync(memory, 1, SIZE, other));
  MISUSE("before the stream that allocates it");
  OK(cudaFreeAsync(memory, stream));
  MISUSE("in another stream, which this one does not wait for");
  kvtier_emulator_hold_streams(0);
  OK(cudaDeviceSynchronize());
  OK(cudaMemPoolDestroy(pool));
  OK(cudaStreamDestroy(stream));
  OK(cudaStreamDestroy(other));
  CLEAN();
}

/* ---- planned faults ---- */

static void *release_soon(void *unused) {
  (void) unused;
  while (kvtier_emulator_stalled() == 0) {
    usleep(1000);
  }
  kvtier_emulator_release();
  return NULL;
}

static void plans(void) {
  kvtier_emulator_fail("cudaMalloc", 2, cudaErrorMemoryAllocation);
  void *memory = new_memory();
  CHECK(reported("plan: use 1 of cudaMalloc"));
  void *second;
  CHECK(cudaMalloc(&second, SIZE) == cudaErrorMemoryAllocation);
  CHECK(kvtier_emulator_calls("cudaMalloc") == 2);
  kvtier_emulator_fail("cudaFree", 1, cudaErrorLaunchFailure);
  CHECK(cudaFree(memory) == cudaErrorLaunchFailure);
  CHECK(kvtier_emulator_live() == 0);
  CHECK(cudaMalloc(&second, SIZE) == cudaErrorLaunchFailure);
  CHECK(cudaGetLastError() == cudaErrorLaunchFailure && cudaGetLastError() == cudaErrorLaunchFailure);
  kvtier_emulator_reset();
  cudaGetLastError();
  cudaStream_t stream = new_stream();
  kvtier_emulator_stall("cudaStreamSynchronize", 1);
  pthread_t thread;
  pthread_create(&thread, NULL, release_soon, NULL);
  OK(cudaStreamSynchronize(stream));
  pthread_join(thread, NULL);
  char *device = new_memory();
  kvtier_emulator_fail("cudaMemsetAsync@stream", 1, cudaErrorIllegalAddress);
  OK(cudaMemsetAsync(device, 1, SIZE, stream));
  CHECK(cudaStreamSynchronize(stream) == cudaErrorIllegalAddress);
  CHECK(cudaFree(device) == cudaErrorIllegalAddress);
  CHECK(cudaStreamDestroy(stream) == cudaErrorIllegalAddress);
  kvtier_emulator_reset();
  cudaGetLastError();
  CLEAN();
}

int main(void) {
  in_order();
  destroyed_while_pending();
  host_functions();
  legacy_stream();
  memory_in_use();
  pools();
  plans();
  puts("all well");
  return 0;
}
