package io.kvtier.tier;

import java.io.IOException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A tier could not be opened. Once open, a tier's faults are outcomes, not exceptions. */
public final class TierException extends IOException {
    private static final long serialVersionUID = 1L;

    /** Why a tier could not be opened. */
    public enum Reason {
        /** The path is no folder and cannot be made one. */
        NO_FOLDER,
        /** The folder cannot be written to. */
        NOT_WRITABLE,
        /** The device has no space. */
        FULL,
        /** Another cache has the folder open. */
        IN_USE,
        /** The folder was written by a newer version of kvtier. */
        NEWER_FORMAT,
        /** What was written did not come back. */
        SELF_TEST
    }

    private final Reason reason;

    /** Creates the exception; the message says what was asked, what was found and what to do. */
    public TierException(Reason reason, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = Objects.requireNonNull(reason, "reason");
    }

    /** Returns the kind of the failure. */
    public Reason reason() {
        return reason;
    }
}
