package io.kvtier.bindings.nixl;

import io.kvtier.bindings.nixl.generated.NixlApi;

/** NIXL's status codes, and the one place where they become exceptions. */
final class NixlStatus {
    static final int SUCCESS = NixlApi.NIXL_CAPI_SUCCESS();
    static final int IN_PROGRESS = NixlApi.NIXL_CAPI_IN_PROG();
    static final int NOT_FOUND = NixlApi.NIXL_CAPI_ERROR_NOT_FOUND();
    static final int NO_TELEMETRY = NixlApi.NIXL_CAPI_ERROR_NO_TELEMETRY();
    static final int BACKEND = NixlApi.NIXL_CAPI_ERROR_BACKEND();
    /** Not NIXL's: a file is too short for what NIXL was asked to do or calls done. */
    static final int SHORT = Integer.MIN_VALUE;

    private NixlStatus() {}

    /** Throws unless the status is success. */
    static void check(String function, int status) {
        check(function, status, "");
    }

    /** Throws unless the status is success; {@code details} are the arguments and advice. */
    static void check(String function, int status, String details) {
        if (status != SUCCESS) {
            throw new NixlException(function, status, details);
        }
    }
}
