package io.kvtier.bindings.cuda;

import io.kvtier.bindings.NativeStatusException;

/** The CUDA runtime refused a call, or tells of an earlier one that failed. */
public final class CudaException extends NativeStatusException {
    private static final long serialVersionUID = 1L;

    CudaException(String function, int code, String codeName, String arguments) {
        super(function, code, codeName, arguments);
    }
}
