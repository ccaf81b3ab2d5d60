package io.kvtier.object;

/** The states of an object in one tier. Only a resident object can be found by readers. */
public enum ObjectState {
    /** Not there. */
    ABSENT,
    /** Being written by one writer. */
    STAGED,
    /** Readable. */
    RESIDENT,
    /** No longer found; its bytes stay until the last lease is closed or the tier has deleted them. */
    EVICTING;

    private static final ObjectState[] BY_CODE = {ABSENT, STAGED, RESIDENT, EVICTING};

    /** Returns the byte that stands for this state in an index. */
    byte code() {
        return switch (this) {
            case ABSENT -> 0;
            case STAGED -> 1;
            case RESIDENT -> 2;
            case EVICTING -> 3;
        };
    }

    static ObjectState ofCode(byte code) {
        return BY_CODE[code];
    }
}
