package io.kvtier.bindings.cufile;

import io.kvtier.bindings.NativeStatusException;

/** cuFile refused a call. */
public final class CuFileException extends NativeStatusException {
    private static final long serialVersionUID = 1L;

    CuFileException(String function, long code, String codeName, String arguments) {
        super(function, code, codeName, arguments);
    }
}
