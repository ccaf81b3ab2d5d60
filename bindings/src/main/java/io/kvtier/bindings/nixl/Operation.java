package io.kvtier.bindings.nixl;

/** The direction of a transfer, seen from the local side. */
public enum Operation {
    /** From remote to local. */
    READ(0),
    /** From local to remote. */
    WRITE(1);

    private final int code;

    Operation(int code) {
        this.code = code;
    }

    /** Returns NIXL's number of the operation. */
    int code() {
        return code;
    }
}
