package io.kvtier.bindings.nixl;

import io.kvtier.bindings.NativeStatusException;

/**
 * NIXL refused a call, or called done what was not. It gives no text: its own log, on the standard error stream, may say
 * more.
 */
public final class NixlException extends NativeStatusException {
    private static final long serialVersionUID = 1L;

    private static final String[] NAMES = {
        "SUCCESS", "INVALID_PARAM", "BACKEND", "INVALID_STATE", "EXCEPTION", "NO_TELEMETRY", "NOT_FOUND"
    };

    NixlException(String function, int code, String details) {
        super("nixl_capi_" + function, code, name(code), details);
    }

    /** Returns whether NIXL did not know what was asked for. */
    public boolean isNotFound() {
        return code() == NixlStatus.NOT_FOUND;
    }

    /** Returns whether a file is too short for what was to be read or written; NIXL itself may have called it done. */
    public boolean isShort() {
        return code() == NixlStatus.SHORT;
    }

    private static String name(int code) {
        if (code == NixlStatus.SHORT) {
            return "SHORT";
        }
        if (code == NixlStatus.IN_PROGRESS) {
            return "IN_PROG";
        }
        return code <= 0 && -code < NAMES.length ? NAMES[-code] : "an unknown status";
    }
}
