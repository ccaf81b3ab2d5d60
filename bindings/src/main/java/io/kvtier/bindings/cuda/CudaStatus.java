package io.kvtier.bindings.cuda;

import io.kvtier.bindings.cuda.generated.CudaApi;

/** The runtime's status codes, and the one place where they become exceptions. */
final class CudaStatus {
    static final int SUCCESS = CudaApi.cudaSuccess();
    static final int NOT_READY = CudaApi.cudaErrorNotReady();
    static final int OUT_OF_MEMORY = CudaApi.cudaErrorMemoryAllocation();
    static final int PEER_ACCESS_ALREADY_ENABLED = CudaApi.cudaErrorPeerAccessAlreadyEnabled();
    // After these the process has to be started anew too; they have no names in our header.
    private static final int CONTAINED = 226;
    private static final int ASSERTION = 710;
    private static final int FIRST_FAULT = 714; // of a kernel; the last one is LaunchFailure
    private static final int TENSOR_MEMORY_LEAK = 721;
    private static final int MPS_CLIENT_TERMINATED = 810;
    private static final int EXTERNAL_DEVICE = 911;

    private CudaStatus() {}

    /** Throws unless the status is success; {@code arguments} tell what the function was called with. */
    static void check(String function, int status, Object arguments) {
        if (status != SUCCESS) {
            throw failure(function, status, arguments.toString());
        }
    }

    /** Returns whether work is done, where a status says "done", "not yet" or what went wrong. */
    static boolean isDone(String function, int status, Object arguments) {
        if (status == NOT_READY) {
            forget();
            return false;
        }
        check(function, status, arguments);
        return true;
    }

    /** Returns the exception for a status that is no success; for callers that must not build a text before they know. */
    static CudaException failure(String function, int status, String arguments) {
        forget();
        String advice = advice(status);
        return new CudaException(
                function,
                status,
                CudaNative.errorName(status),
                CudaNative.errorText(status)
                        + (arguments.isEmpty() ? "" : "; " + arguments)
                        + (advice.isEmpty() ? "" : "; " + advice));
    }

    static boolean losesContext(int status) {
        return status == CudaApi.cudaErrorECCUncorrectable()
                || status == CudaApi.cudaErrorIllegalAddress()
                || status == CudaApi.cudaErrorLaunchTimeout()
                || status == CudaApi.cudaErrorContextIsDestroyed()
                || status == CONTAINED
                || status == ASSERTION
                || status == TENSOR_MEMORY_LEAK
                || status == MPS_CLIENT_TERMINATED
                || status == EXTERNAL_DEVICE
                || (status >= FIRST_FAULT && status <= CudaApi.cudaErrorLaunchFailure());
    }

    /** The runtime keeps a thread's last error; other users of CUDA on this thread must not take it for theirs. */
    static void forget() {
        int _ = CudaApi.cudaGetLastError();
    }

    private static String advice(int status) {
        if (losesContext(status)) {
            return "the context of this process is lost: nothing of CUDA works in it any more, start a new process";
        }
        if (status == CudaApi.cudaErrorInsufficientDriver()) {
            return "install an NVIDIA driver that is new enough for the runtime";
        }
        if (status == CudaApi.cudaErrorNoDevice()) {
            return "the driver sees no device; check CUDA_VISIBLE_DEVICES";
        }
        if (status == CudaApi.cudaErrorHostMemoryAlreadyRegistered()) {
            return "memory can be pinned once only, and whole pages of it";
        }
        return "";
    }
}
