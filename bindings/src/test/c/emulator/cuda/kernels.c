/* The emulator runs no kernels. */
#include "emulator.h"

cudaError_t cudaLibraryLoadData(
    cudaLibrary_t *library,
    const void *code,
    enum cudaJitOption *jit_options,
    void **jit_values,
    unsigned int jit_count,
    enum cudaLibraryOption *options,
    void **values,
    unsigned int count) {
  ENTER();
  (void) jit_options, (void) jit_values, (void) jit_count, (void) options, (void) values, (void) count;
  return kve_leave(library == NULL || code == NULL ? cudaErrorInvalidValue : cudaErrorNotSupported);
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name) {
  ENTER();
  (void) library;
  return kve_leave(kernel == NULL || name == NULL ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle);
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  ENTER();
  (void) library;
  return kve_leave(cudaErrorInvalidResourceHandle);
}

cudaError_t cudaLaunchKernel(
    const void *function, dim3 grid, dim3 block, void **arguments, size_t shared_size, cudaStream_t stream) {
  ENTER();
  (void) function, (void) grid, (void) block, (void) arguments, (void) shared_size, (void) stream;
  return kve_leave(cudaErrorNotSupported);
}
