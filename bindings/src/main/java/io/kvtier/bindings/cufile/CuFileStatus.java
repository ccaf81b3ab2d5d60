package io.kvtier.bindings.cufile;

import io.kvtier.bindings.cufile.generated.CUfileError;
import io.kvtier.bindings.cufile.generated.CuFileApi;
import io.kvtier.bindings.internal.Errno;
import io.kvtier.bindings.posix.generated.PosixApi;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.util.Map;

/** cuFile's status codes, and the one place where they become exceptions. */
final class CuFileStatus {
    /** Lower numbers are those of the C library. */
    private static final int LOWEST_CODE = CuFileApi.CU_FILE_DRIVER_NOT_INITIALIZED();

    /** Room for the structure that most functions return; the next call of the thread overwrites it. */
    private static final ThreadLocal<SegmentAllocator> RESULT = ThreadLocal.withInitial(() -> {
        MemorySegment room = Arena.ofAuto().allocate(CUfileError.layout());
        return (_, _) -> room;
    });

    private static final Map<Integer, String> NAMES = Map.ofEntries(
            Map.entry(CuFileApi.CU_FILE_SUCCESS(), "CU_FILE_SUCCESS"),
            Map.entry(CuFileApi.CU_FILE_DRIVER_NOT_INITIALIZED(), "CU_FILE_DRIVER_NOT_INITIALIZED"),
            Map.entry(CuFileApi.CU_FILE_DRIVER_INVALID_PROPS(), "CU_FILE_DRIVER_INVALID_PROPS"),
            Map.entry(CuFileApi.CU_FILE_DRIVER_UNSUPPORTED_LIMIT(), "CU_FILE_DRIVER_UNSUPPORTED_LIMIT"),
            Map.entry(CuFileApi.CU_FILE_DRIVER_VERSION_MISMATCH(), "CU_FILE_DRIVER_VERSION_MISMATCH"),
            Map.entry(CuFileApi.CU_FILE_DRIVER_VERSION_READ_ERROR(), "CU_FILE_DRIVER_VERSION_READ_ERROR"),
            Map.entry(CuFileApi.CU_FILE_DRIVER_CLOSING(), "CU_FILE_DRIVER_CLOSING"),
            Map.entry(CuFileApi.CU_FILE_PLATFORM_NOT_SUPPORTED(), "CU_FILE_PLATFORM_NOT_SUPPORTED"),
            Map.entry(CuFileApi.CU_FILE_IO_NOT_SUPPORTED(), "CU_FILE_IO_NOT_SUPPORTED"),
            Map.entry(CuFileApi.CU_FILE_DEVICE_NOT_SUPPORTED(), "CU_FILE_DEVICE_NOT_SUPPORTED"),
            Map.entry(CuFileApi.CU_FILE_NVFS_DRIVER_ERROR(), "CU_FILE_NVFS_DRIVER_ERROR"),
            Map.entry(CuFileApi.CU_FILE_CUDA_DRIVER_ERROR(), "CU_FILE_CUDA_DRIVER_ERROR"),
            Map.entry(CuFileApi.CU_FILE_CUDA_POINTER_INVALID(), "CU_FILE_CUDA_POINTER_INVALID"),
            Map.entry(CuFileApi.CU_FILE_CUDA_MEMORY_TYPE_INVALID(), "CU_FILE_CUDA_MEMORY_TYPE_INVALID"),
            Map.entry(CuFileApi.CU_FILE_CUDA_POINTER_RANGE_ERROR(), "CU_FILE_CUDA_POINTER_RANGE_ERROR"),
            Map.entry(CuFileApi.CU_FILE_CUDA_CONTEXT_MISMATCH(), "CU_FILE_CUDA_CONTEXT_MISMATCH"),
            Map.entry(CuFileApi.CU_FILE_INVALID_MAPPING_SIZE(), "CU_FILE_INVALID_MAPPING_SIZE"),
            Map.entry(CuFileApi.CU_FILE_INVALID_MAPPING_RANGE(), "CU_FILE_INVALID_MAPPING_RANGE"),
            Map.entry(CuFileApi.CU_FILE_INVALID_FILE_TYPE(), "CU_FILE_INVALID_FILE_TYPE"),
            Map.entry(CuFileApi.CU_FILE_INVALID_FILE_OPEN_FLAG(), "CU_FILE_INVALID_FILE_OPEN_FLAG"),
            Map.entry(CuFileApi.CU_FILE_DIO_NOT_SET(), "CU_FILE_DIO_NOT_SET"),
            Map.entry(CuFileApi.CU_FILE_INVALID_VALUE(), "CU_FILE_INVALID_VALUE"),
            Map.entry(CuFileApi.CU_FILE_MEMORY_ALREADY_REGISTERED(), "CU_FILE_MEMORY_ALREADY_REGISTERED"),
            Map.entry(CuFileApi.CU_FILE_MEMORY_NOT_REGISTERED(), "CU_FILE_MEMORY_NOT_REGISTERED"),
            Map.entry(CuFileApi.CU_FILE_PERMISSION_DENIED(), "CU_FILE_PERMISSION_DENIED"),
            Map.entry(CuFileApi.CU_FILE_DRIVER_ALREADY_OPEN(), "CU_FILE_DRIVER_ALREADY_OPEN"),
            Map.entry(CuFileApi.CU_FILE_HANDLE_NOT_REGISTERED(), "CU_FILE_HANDLE_NOT_REGISTERED"),
            Map.entry(CuFileApi.CU_FILE_HANDLE_ALREADY_REGISTERED(), "CU_FILE_HANDLE_ALREADY_REGISTERED"),
            Map.entry(CuFileApi.CU_FILE_DEVICE_NOT_FOUND(), "CU_FILE_DEVICE_NOT_FOUND"),
            Map.entry(CuFileApi.CU_FILE_INTERNAL_ERROR(), "CU_FILE_INTERNAL_ERROR"),
            Map.entry(CuFileApi.CU_FILE_GETNEWFD_FAILED(), "CU_FILE_GETNEWFD_FAILED"),
            Map.entry(CuFileApi.CU_FILE_NVFS_SETUP_ERROR(), "CU_FILE_NVFS_SETUP_ERROR"),
            Map.entry(CuFileApi.CU_FILE_IO_DISABLED(), "CU_FILE_IO_DISABLED"),
            Map.entry(CuFileApi.CU_FILE_BATCH_SUBMIT_FAILED(), "CU_FILE_BATCH_SUBMIT_FAILED"),
            Map.entry(CuFileApi.CU_FILE_GPU_MEMORY_PINNING_FAILED(), "CU_FILE_GPU_MEMORY_PINNING_FAILED"),
            Map.entry(CuFileApi.CU_FILE_BATCH_FULL(), "CU_FILE_BATCH_FULL"),
            Map.entry(CuFileApi.CU_FILE_ASYNC_NOT_SUPPORTED(), "CU_FILE_ASYNC_NOT_SUPPORTED"),
            Map.entry(CuFileApi.CU_FILE_INTERNAL_BATCH_SETUP_ERROR(), "CU_FILE_INTERNAL_BATCH_SETUP_ERROR"),
            Map.entry(CuFileApi.CU_FILE_INTERNAL_BATCH_SUBMIT_ERROR(), "CU_FILE_INTERNAL_BATCH_SUBMIT_ERROR"),
            Map.entry(CuFileApi.CU_FILE_INTERNAL_BATCH_GETSTATUS_ERROR(), "CU_FILE_INTERNAL_BATCH_GETSTATUS_ERROR"),
            Map.entry(CuFileApi.CU_FILE_INTERNAL_BATCH_CANCEL_ERROR(), "CU_FILE_INTERNAL_BATCH_CANCEL_ERROR"),
            Map.entry(CuFileApi.CU_FILE_NOMEM_ERROR(), "CU_FILE_NOMEM_ERROR"),
            Map.entry(CuFileApi.CU_FILE_IO_ERROR(), "CU_FILE_IO_ERROR"),
            Map.entry(CuFileApi.CU_FILE_INTERNAL_BUF_REGISTER_ERROR(), "CU_FILE_INTERNAL_BUF_REGISTER_ERROR"),
            Map.entry(CuFileApi.CU_FILE_HASH_OPR_ERROR(), "CU_FILE_HASH_OPR_ERROR"),
            Map.entry(CuFileApi.CU_FILE_INVALID_CONTEXT_ERROR(), "CU_FILE_INVALID_CONTEXT_ERROR"),
            Map.entry(CuFileApi.CU_FILE_NVFS_INTERNAL_DRIVER_ERROR(), "CU_FILE_NVFS_INTERNAL_DRIVER_ERROR"),
            Map.entry(CuFileApi.CU_FILE_BATCH_NOCOMPAT_ERROR(), "CU_FILE_BATCH_NOCOMPAT_ERROR"));

    private CuFileStatus() {}

    /** Returns where this thread's calls put the structure that they return. */
    static SegmentAllocator result() {
        return RESULT.get();
    }

    /** Throws unless a structure says success; {@code arguments} says what the function was called with. */
    static void check(String function, MemorySegment error, String arguments) {
        if (isFailure(error)) {
            throw exception(function, error, arguments);
        }
    }

    static boolean isFailure(MemorySegment error) {
        return CUfileError.err(error) != CuFileApi.CU_FILE_SUCCESS();
    }

    static CuFileException exception(String function, MemorySegment error, String arguments) {
        return exception(function, CUfileError.err(error), CUfileError.cu_err(error), arguments);
    }

    /**
     * Returns the exception for I/O that failed with a number, which is an errno or one of cuFile's codes: reads and writes
     * that return -1 leave either in errno, all other negative results are the negated number.
     */
    static CuFileException failedIo(String function, long number, int cudaCode, String arguments) {
        return number >= LOWEST_CODE
                ? exception(function, (int) number, cudaCode, arguments)
                : new CuFileException(function, -1, Errno.name((int) number), 0, arguments);
    }

    /** Returns the exception for I/O that moved fewer bytes than it had to. */
    static CuFileException shortIo(String function, long moved, String arguments) {
        return new CuFileException(function, moved, "SHORT", 0, arguments);
    }

    /** Returns the exception for I/O that never began. */
    static CuFileException canceled(String function, String arguments) {
        return new CuFileException(function, CuFileApi.CUFILE_CANCELED(), "CUFILE_CANCELED", 0, arguments);
    }

    /** Returns whether a read or write was only interrupted and is to be repeated. */
    static boolean interrupted(long result) {
        return result == -1 && Errno.last() == PosixApi.EINTR();
    }

    /** Returns the library's name for a code. */
    static String name(int code) {
        return NAMES.getOrDefault(code, "status " + code);
    }

    private static CuFileException exception(String function, int code, int cudaCode, String arguments) {
        String advice = advice(code);
        return new CuFileException(
                function,
                code,
                name(code) + (cudaCode == 0 ? "" : ", CUDA driver error " + cudaCode),
                cudaCode,
                advice.isEmpty() || arguments.isEmpty() ? arguments + advice : arguments + "; " + advice);
    }

    private static String advice(int code) {
        if (code == CuFileApi.CU_FILE_DRIVER_NOT_INITIALIZED()) {
            return "open the driver first";
        }
        if (code == CuFileApi.CU_FILE_NVFS_SETUP_ERROR()) {
            return "is NVIDIA's driver (libcuda.so.1) installed? cufile.log says more";
        }
        if (code == CuFileApi.CU_FILE_INVALID_FILE_OPEN_FLAG()) {
            return "was the file opened for this?";
        }
        return code == CuFileApi.CU_FILE_INTERNAL_ERROR() ? "is /run/udev there? cufile.log says more" : "";
    }
}
