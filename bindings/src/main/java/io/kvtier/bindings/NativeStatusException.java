package io.kvtier.bindings;

import io.kvtier.bindings.cuda.CudaException;
import io.kvtier.bindings.cufile.CuFileException;
import io.kvtier.bindings.nixl.NixlException;
import io.kvtier.bindings.posix.PosixException;

/** A native function answered with a status that is no success. */
public abstract sealed class NativeStatusException extends RuntimeException
        permits CudaException, CuFileException, NixlException, PosixException {
    private static final long serialVersionUID = 1L;

    private final String function;
    private final long code;
    private final String codeName;
    private final String arguments;

    /**
     * Creates the exception.
     *
     * @param function name of the native function
     * @param code what it returned
     * @param codeName the library's name for the code
     * @param arguments what it was called with, and advice; may be empty
     */
    protected NativeStatusException(String function, long code, String codeName, String arguments) {
        super(function + " failed with " + codeName + " (" + code + ")"
                + (arguments.isEmpty() ? "" : ": " + arguments));
        this.function = function;
        this.code = code;
        this.codeName = codeName;
        this.arguments = arguments;
    }

    /** Returns the name of the native function. */
    public String function() {
        return function;
    }

    /** Returns what the function returned. */
    public long code() {
        return code;
    }

    /** Returns the library's name for the code. */
    public String codeName() {
        return codeName;
    }

    /** Returns what the function was called with, and advice; may be empty. */
    public String arguments() {
        return arguments;
    }
}
