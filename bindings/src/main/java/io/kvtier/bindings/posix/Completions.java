package io.kvtier.bindings.posix;

/** Takes completed operations of an {@link IoUring}. It may prepare and submit others, but not close the ring. */
@FunctionalInterface
public interface Completions {
    /**
     * Takes one.
     *
     * @param data what the operation was prepared with
     * @param result bytes read or written, which may be fewer than asked; 0 for other operations; if negative, an errno with
     *     its sign changed: see {@link IoUring#failure}
     */
    void completed(long data, int result);
}
