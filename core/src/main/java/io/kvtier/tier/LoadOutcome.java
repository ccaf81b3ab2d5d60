package io.kvtier.tier;

/** What became of a load. Only after {@link #LOADED} may the destination's bytes be used. */
public enum LoadOutcome {
    /** The bytes are there, and key, length and checksum are right. */
    LOADED,
    /** The object was gone. */
    MISSING,
    /** What was found is not the object; it was put into quarantine and is no longer found. */
    CORRUPT,
    /** The tier failed to read and is degraded; the object stays. */
    FAILED
}
