package io.kvtier.bindings.cuda;

/** What an {@link Event} can do beyond telling that it was reached. */
public enum EventOption {
    /** It notes the time, for {@link Event#elapsedMillis}; such an event costs more. */
    TIMING,
    /** {@link Event#synchronize} lets the thread sleep instead of spin. */
    BLOCKING_SYNC,
    /** Other processes can open it, see {@link Event#ipcHandle}; not together with {@link #TIMING}. */
    INTERPROCESS
}
