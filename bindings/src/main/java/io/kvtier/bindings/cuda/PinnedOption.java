package io.kvtier.bindings.cuda;

/** What {@link PinnedMemory} can be beyond pinned. */
public enum PinnedOption {
    /** All devices may use it, not only the one that it was pinned for. */
    PORTABLE,
    /** The device can reach it directly, see {@link PinnedMemory#deviceAddress}. */
    MAPPED,
    /** Devices read it faster, but the host reads it very slowly. Only for {@link PinnedMemory#allocate}. */
    WRITE_COMBINED,
    /** Devices only read it; needed where the host's pages may not be written. Only for {@link PinnedMemory#register}. */
    READ_ONLY
}
