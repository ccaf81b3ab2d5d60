package io.kvtier.bindings.cuda;

import io.kvtier.bindings.NativeStatusException;

/**
 * The CUDA runtime refused a call, or tells of an earlier one that failed: work on a device runs later than the call that
 * asked for it, so any call may report it.
 */
public final class CudaException extends NativeStatusException {
    private static final long serialVersionUID = 1L;

    private final boolean contextLost;

    CudaException(String function, int code, String codeName, String arguments) {
        super(function, code, codeName, arguments);
        this.contextLost = CudaStatus.losesContext(code);
    }

    /** Returns whether a device or a host has no memory left for what was asked. */
    public boolean isOutOfMemory() {
        return code() == CudaStatus.OUT_OF_MEMORY;
    }

    /** Returns whether nothing of CUDA works any more in this process; only a new process helps. */
    public boolean isContextLost() {
        return contextLost;
    }
}
