/* Names and texts of the status codes. */
#include "emulator.h"

#define ERROR(code, text) {code, #code, text}

struct error {
  int code;
  const char *name;
  const char *text;
};

static const struct error ERRORS[] = {
    ERROR(cudaSuccess, "no error"),
    ERROR(cudaErrorInvalidValue, "invalid argument"),
    ERROR(cudaErrorMemoryAllocation, "out of memory"),
    ERROR(cudaErrorInitializationError, "initialization error"),
    ERROR(cudaErrorCudartUnloading, "driver shutting down"),
    {12, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    ERROR(cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"),
    ERROR(cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version"),
    ERROR(cudaErrorDevicesUnavailable, "CUDA-capable device(s) is/are busy or unavailable"),
    ERROR(cudaErrorNoDevice, "no CUDA-capable device is detected"),
    ERROR(cudaErrorInvalidDevice, "invalid device ordinal"),
    ERROR(cudaErrorInvalidKernelImage, "device kernel image is invalid"),
    ERROR(cudaErrorDeviceUninitialized, "invalid device context"),
    ERROR(cudaErrorNoKernelImageForDevice, "no kernel image is available for execution on the device"),
    ERROR(cudaErrorECCUncorrectable, "uncorrectable ECC error encountered"),
    ERROR(cudaErrorPeerAccessUnsupported, "peer access is not supported between these two devices"),
    ERROR(cudaErrorSharedObjectInitFailed, "shared object initialization failed"),
    ERROR(cudaErrorOperatingSystem, "OS call failed or operation not supported on this OS"),
    ERROR(cudaErrorInvalidResourceHandle, "invalid resource handle"),
    ERROR(cudaErrorSymbolNotFound, "named symbol not found"),
    ERROR(cudaErrorNotReady, "device not ready"),
    ERROR(cudaErrorIllegalAddress, "an illegal memory access was encountered"),
    ERROR(cudaErrorLaunchOutOfResources, "too many resources requested for launch"),
    ERROR(cudaErrorLaunchTimeout, "the launch timed out and was terminated"),
    ERROR(cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"),
    ERROR(cudaErrorPeerAccessNotEnabled, "peer access has not been enabled"),
    ERROR(cudaErrorContextIsDestroyed, "context is destroyed"),
    ERROR(cudaErrorHostMemoryAlreadyRegistered, "part or all of the requested memory range is already mapped"),
    ERROR(cudaErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region"),
    ERROR(cudaErrorLaunchFailure, "unspecified launch failure"),
    ERROR(cudaErrorNotPermitted, "operation not permitted"),
    ERROR(cudaErrorNotSupported, "operation not supported"),
    ERROR(cudaErrorSystemNotReady, "system not yet initialized"),
    ERROR(cudaErrorSystemDriverMismatch, "system has unsupported display driver / cuda driver combination"),
    ERROR(cudaErrorCompatNotSupportedOnDevice, "forward compatibility was attempted on non supported HW"),
    ERROR(cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"),
    ERROR(cudaErrorUnknown, "unknown error"),
};

static const struct error UNKNOWN = {-1, "unrecognized error code", "unrecognized error code"};

static const struct error *find(int code) {
  for (size_t i = 0; i < sizeof(ERRORS) / sizeof(ERRORS[0]); i++) {
    if (ERRORS[i].code == code) {
      return &ERRORS[i];
    }
  }
  return &UNKNOWN;
}

/* A planned failure of these two has no code to return: they do not know the code they are asked for. */
static const struct error *asked(const char *function, cudaError_t error) {
  return kve_use(function).fails ? &UNKNOWN : find(error);
}

const char *cudaGetErrorName(cudaError_t error) { return asked(__func__, error)->name; }

const char *cudaGetErrorString(cudaError_t error) { return asked(__func__, error)->text; }
