package io.kvtier.bindings;

import io.kvtier.bindings.nixl.NixlException;

/** A native function answered with a status that is no success. */
public abstract sealed class NativeStatusException extends RuntimeException permits NixlException {
    private static final long serialVersionUID = 1L;

    private final String function;
    private final long code;
    private final String codeName;

    /**
     * Creates the exception.
     *
     * @param function name of the native function
     * @param code what it returned
     * @param codeName the library's name for the code
     * @param details arguments and advice
     */
    protected NativeStatusException(String function, long code, String codeName, String details) {
        super(function + " failed with " + codeName + " (" + code + ")" + (details.isEmpty() ? "" : ": " + details));
        this.function = function;
        this.code = code;
        this.codeName = codeName;
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
}
