package io.kvtier.tier;

/** What became of a store in one tier. Only {@link #STORED} and {@link #PRESENT} mean that the tier has the object. */
public enum StoreOutcome {
    /** The object was written and can be found. */
    STORED,
    /** The object was there already and counts as used. */
    PRESENT,
    /** Another thread is writing or removing an object of this key; nothing was done. */
    BUSY,
    /** The object is larger than the capacity, or nothing that is there may go. */
    NO_SPACE,
    /** The tier failed and is degraded; nothing is left of the attempt. */
    FAILED
}
