/* The emulated runtime keeps the rules of the real one. */
#include "checks.h"

#include <dlfcn.h>
#include <sys/mman.h>

/* ---- devices ---- */

static void devices(void) {
  int count;
  OK(cudaGetDeviceCount(&count));
  CHECK(count == 2);
  CHECK(cudaSetDevice(2) == cudaErrorInvalidDevice);
  CHECK(cudaGetLastError() == cudaErrorInvalidDevice);
  CHECK(cudaGetLastError() == cudaSuccess);
  struct cudaDeviceProp properties;
  memset(&properties, 0x55, sizeof(properties));
#if EMULATOR_MAJOR == 12
  OK(cudaGetDeviceProperties_v2(&properties, 1));
  CHECK(((char *) &properties)[1031] == 0 && ((char *) &properties)[1032] == 0x55);
#else
  OK(cudaGetDeviceProperties(&properties, 1));
  CHECK(((char *) &properties)[1007] == 0 && ((char *) &properties)[1008] == 0x55);
#endif
  CHECK(properties.totalGlobalMem == 1UL << 30 && properties.major == 9);
  kvtier_emulator_devices(0);
  CHECK(cudaGetDeviceCount(&count) == cudaErrorNoDevice);
  kvtier_emulator_devices(-1);
  CHECK(cudaGetDeviceCount(&count) == cudaErrorInsufficientDriver);
  OK(cudaDriverGetVersion(&count));
  CHECK(count == 0);
  kvtier_emulator_devices(2);
  cudaGetLastError();
  CLEAN();
}

static void peers(void) {
  int can;
  OK(cudaDeviceCanAccessPeer(&can, 0, 1));
  CHECK(can == 1);
  CHECK(cudaDeviceDisablePeerAccess(1) == cudaErrorPeerAccessNotEnabled);
  OK(cudaDeviceEnablePeerAccess(1, 0));
  CHECK(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorPeerAccessAlreadyEnabled);
  OK(cudaDeviceDisablePeerAccess(1));
  CHECK(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorInvalidDevice);
  CLEAN();
}

/* ---- memory ---- */

static void accounting(void) {
  size_t before;
  size_t after;
  size_t total;
  OK(cudaMemGetInfo(&before, &total));
  void *first;
  OK(cudaMalloc(&first, 1000));
  OK(cudaMemGetInfo(&after, &total));
  CHECK(before - after == 1000 && total == 1UL << 30);
  void *second;
  CHECK(cudaMalloc(&second, total) == cudaErrorMemoryAllocation);
  OK(cudaFree(first));
  OK(cudaMemGetInfo(&after, &total));
  CHECK(before == after);
  CLEAN();
}

static void frees(void) {
  OK(cudaFree(NULL));
  OK(cudaFreeHost(NULL));
  char *memory = new_memory();
  CHECK(cudaFree(memory + 1) == cudaErrorInvalidValue);
  MISUSE("is no allocation");
  OK(cudaFree(memory));
  CHECK(cudaFree(memory) == cudaErrorInvalidValue);
  MISUSE("is no allocation (any more)");
  char *pinned = new_pinned();
  CHECK(cudaFree(pinned) == cudaErrorInvalidValue);
  MISUSE("is host memory");
  CHECK(cudaHostUnregister(pinned) == cudaErrorHostMemoryNotRegistered);
  MISUSE("is no registered memory");
  OK(cudaFreeHost(pinned));
  CHECK(cudaFreeHost(pinned) == cudaErrorInvalidValue);
  MISUSE("any more");
  CLEAN();
}

static void registration(void) {
  char *memory = aligned_alloc(4096, SIZE);
  OK(cudaHostRegister(memory, SIZE, cudaHostRegisterPortable));
  CHECK(cudaHostRegister(memory + 4096, 4096, 0) == cudaErrorHostMemoryAlreadyRegistered);
  MISUSE("overlaps registered memory");
  void *device;
  OK(cudaHostGetDevicePointer(&device, memory + 8, 0));
  struct cudaPointerAttributes attributes;
  memset(&attributes, 0x55, sizeof(attributes));
  OK(cudaPointerGetAttributes(&attributes, memory + 8));
  CHECK(attributes.type == cudaMemoryTypeHost && attributes.hostPointer == memory + 8 && attributes.devicePointer == device);
  size_t end = EMULATOR_MAJOR == 12 ? 24 : 88;
  CHECK(((char *) &attributes)[end - 1] != 0x55 && ((char *) &attributes)[end] == 0x55);
  CHECK(cudaFreeHost(memory) == cudaErrorInvalidValue);
  MISUSE("is no memory of cudaHostAlloc");
  OK(cudaHostUnregister(memory));
  OK(cudaPointerGetAttributes(&attributes, memory));
  CHECK(attributes.type == cudaMemoryTypeUnregistered);
  CHECK(cudaHostRegister(memory, SIZE, cudaHostRegisterReadOnly) == cudaErrorNotSupported);
  CHECK(cudaHostRegister(memory, 0, 0) == cudaErrorInvalidValue);
  void *gone = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(gone, SIZE);
  CHECK(cudaHostRegister(gone, SIZE, 0) == cudaErrorInvalidValue);
  MISUSE("is not all host memory");
  free(memory);
  CLEAN();
}

/* ---- copies ---- */

static void round_trip(void) {
  cudaStream_t stream = new_stream();
  char *device = new_memory();
  char *pinned = new_pinned();
  char *back = new_pinned();
  for (size_t i = 0; i < SIZE; i++) {
    pinned[i] = (char) (i * 7);
  }
  OK(cudaMemcpyAsync(device, pinned, SIZE, cudaMemcpyHostToDevice, stream));
  OK(cudaMemcpyAsync(back, device, SIZE, cudaMemcpyDefault, stream));
  OK(cudaStreamSynchronize(stream));
  CHECK(memcmp(pinned, back, SIZE) == 0);
  OK(cudaMemsetAsync(device + 1, 0x11, 2, stream));
  char pageable[4];
  OK(cudaMemcpyAsync(pageable, device, 4, cudaMemcpyDeviceToHost, stream));
  CHECK(pageable[0] == pinned[0] && pageable[1] == 0x11 && pageable[2] == 0x11 && pageable[3] == pinned[3]);
  CHECK(reported("note: cudaMemcpyAsync into pageable memory"));
  OK(cudaMemcpy2DAsync(device, 100, pinned, 50, 10, 3, cudaMemcpyHostToDevice, stream));
  CHECK(cudaMemcpy2DAsync(device, 9, pinned, 50, 10, 3, cudaMemcpyHostToDevice, stream) == 12);
  OK(cudaStreamSynchronize(stream));
  char row[10];
  kvtier_emulator_peek((unsigned long) device + 200, row, 10);
  CHECK(memcmp(row, pinned + 100, 10) == 0);
  struct cudaMemcpy3DParms box = {
      .srcPtr = {pinned, 16, 16, 4},
      .dstPtr = {device, 32, 32, 8},
      .dstPos = {1, 2, 3},
      .extent = {5, 2, 2},
      .kind = cudaMemcpyHostToDevice};
  OK(cudaMemcpy3DAsync(&box, stream));
  OK(cudaStreamSynchronize(stream));
  kvtier_emulator_peek((unsigned long) device + 4 * 32 * 8 + 3 * 32 + 1, row, 5);
  CHECK(memcmp(row, pinned + 16 * 4 + 16, 5) == 0);
  OK(cudaFreeHost(pinned));
  OK(cudaFreeHost(back));
  OK(cudaFree(device));
  OK(cudaStreamDestroy(stream));
  CLEAN();
}

static void wrong_copies(void) {
  cudaStream_t stream = new_stream();
  char *device = new_memory();
  char *pinned = new_pinned();
  CHECK(cudaMemcpyAsync(device + 1, pinned, SIZE, cudaMemcpyHostToDevice, stream) == cudaErrorInvalidValue);
  MISUSE("leaves device memory");
  CHECK(cudaMemcpyAsync(device + SIZE + 1, pinned, 1, cudaMemcpyHostToDevice, stream) == cudaErrorInvalidValue);
  MISUSE("is device memory that is not allocated");
  CHECK(cudaMemcpyAsync(device, pinned, SIZE, cudaMemcpyDeviceToHost, stream) == cudaErrorInvalidValue);
  MISUSE("not of kind 2");
  CHECK(cudaMemcpyAsync(device, pinned, SIZE, (enum cudaMemcpyKind) 9, stream) == cudaErrorInvalidMemcpyDirection);
  CHECK(cudaMemcpyAsync(NULL, pinned, SIZE, cudaMemcpyHostToDevice, stream) == cudaErrorInvalidValue);
  MISUSE("is NULL");
  OK(cudaStreamDestroy(stream));
  CHECK(cudaMemcpyAsync(device, pinned, SIZE, cudaMemcpyHostToDevice, stream) == cudaErrorInvalidResourceHandle);
  MISUSE("is no stream any more");
  OK(cudaFreeHost(pinned));
  OK(cudaFree(device));
  CLEAN();
}

static void between_devices(void) {
  cudaStream_t stream = new_stream();
  char *here = new_memory();
  OK(cudaSetDevice(1));
  char *there = new_memory();
  OK(cudaSetDevice(0));
  OK(cudaMemsetAsync(here, 7, SIZE, stream));
  OK(cudaMemcpyPeerAsync(there, 1, here, 0, SIZE, stream));
  OK(cudaStreamSynchronize(stream));
  char last;
  kvtier_emulator_peek((unsigned long) there + SIZE - 1, &last, 1);
  CHECK(last == 7);
  CHECK(cudaMemcpyPeerAsync(there, 0, here, 0, SIZE, stream) == cudaErrorInvalidValue);
  MISUSE("is no memory of device 0");
  OK(cudaFree(here));
  OK(cudaFree(there));
  OK(cudaStreamDestroy(stream));
  CLEAN();
}

static cudaError_t copy_batch(
    void **to,
    void **from,
    size_t *sizes,
    size_t count,
    struct cudaMemcpyAttributes *attributes,
    size_t *starts,
    size_t n,
    cudaStream_t stream) {
#if EMULATOR_MAJOR == 12
  size_t failed;
  return ((cudaMemcpyBatchAsync_12) dlsym(RTLD_DEFAULT, "cudaMemcpyBatchAsync"))(
      to, from, sizes, count, attributes, starts, n, &failed, stream);
#else
  return ((cudaMemcpyBatchAsync_13) dlsym(RTLD_DEFAULT, "cudaMemcpyBatchAsync"))(
      to, (const void *const *) from, sizes, count, attributes, starts, n, stream);
#endif
}

static void batches(void) {
  cudaStream_t stream = new_stream();
  char *device = new_memory();
  char *pinned = new_pinned();
  memset(pinned, 1, 10);
  memset(pinned + 10, 2, 10);
  void *to[] = {device, device + 100};
  void *from[] = {pinned, pinned + 10};
  size_t sizes[] = {10, 10};
  size_t starts[] = {0, 0};
  struct cudaMemcpyAttributes attributes[2] = {
      {.srcAccessOrder = cudaMemcpySrcAccessOrderStream}, {.srcAccessOrder = cudaMemcpySrcAccessOrderAny}};
  OK(copy_batch(to, from, sizes, 2, attributes, starts, 1, stream));
  OK(cudaStreamSynchronize(stream));
  char second;
  kvtier_emulator_peek((unsigned long) device + 109, &second, 1);
  CHECK(second == 2);
  CHECK(copy_batch(to, from, sizes, 2, attributes, starts, 2, stream) == cudaErrorInvalidValue);
  CHECK(copy_batch(to, from, sizes, 2, attributes, starts, 0, stream) == cudaErrorInvalidValue);
  CHECK(copy_batch(to, from, sizes, 2, attributes, starts, 1, NULL) == cudaErrorInvalidValue);
  MISUSE("does not take the NULL stream");
  OK(cudaFree(device));
  OK(cudaFreeHost(pinned));
  OK(cudaStreamDestroy(stream));
  CLEAN();
}

int main(void) {
  devices();
  peers();
  accounting();
  frees();
  registration();
  round_trip();
  wrong_copies();
  between_devices();
  batches();
  puts("all well");
  return 0;
}
