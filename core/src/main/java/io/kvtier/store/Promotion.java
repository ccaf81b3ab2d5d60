package io.kvtier.store;

/** What became of bringing an object up into memory. */
public enum Promotion {
    /** The object is in memory, and the lease is now on it there. */
    IN_MEMORY,
    /** Nothing in memory may go; the object stays in its tier, and the lease with it. */
    NO_SPACE,
    /** The tier no longer has the object, or it was damaged, or could not be read; it counts as a miss. */
    LOST
}
