package io.kvtier.bindings.posix;

import io.kvtier.bindings.NativeStatusException;
import io.kvtier.bindings.internal.Errno;

/** A call of the C library failed; the code is the errno of the calling thread. */
public final class PosixException extends NativeStatusException {
    private static final long serialVersionUID = 1L;

    PosixException(String function, int errno, String arguments) {
        super(function, errno, Errno.name(errno), arguments);
    }
}
