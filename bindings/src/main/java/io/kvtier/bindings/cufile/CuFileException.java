package io.kvtier.bindings.cufile;

import io.kvtier.bindings.NativeStatusException;

/**
 * cuFile refused a call. The code is cuFile's (5001 to 5049), or -1 if the C library refused it; the code's name is then
 * that of errno. I/O that moved too little has the name SHORT and the number of bytes that it moved.
 */
public final class CuFileException extends NativeStatusException {
    private static final long serialVersionUID = 1L;

    private final int cudaCode;

    CuFileException(String function, long code, String codeName, int cudaCode, String arguments) {
        super(function, code, codeName, arguments);
        this.cudaCode = cudaCode;
    }

    /** Returns the CUDA driver's code, of interest when it was the driver that failed; 0 if there was none. */
    public int cudaCode() {
        return cudaCode;
    }
}
