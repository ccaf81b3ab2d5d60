package io.kvtier.bindings.cufile;

import java.util.List;

/**
 * Which way bytes take between a disk and a device.
 *
 * @param mode the way
 * @param reasons what speaks against the direct way, one sentence each; empty if nothing does
 */
public record IoPath(Mode mode, List<String> reasons) {
    /** The ways. */
    public enum Mode {
        /** Without a stop in host memory. */
        DIRECT,
        /** Through host memory: cuFile's compatibility mode. */
        COMPAT,
        /** Not at all: the driver cannot be opened, or compatibility mode is needed and not allowed. */
        NONE
    }

    /** Keeps its own list. */
    public IoPath {
        reasons = List.copyOf(reasons);
    }

    /** Returns whether the way is direct. */
    public boolean isDirect() {
        return mode == Mode.DIRECT;
    }
}
