package io.kvtier.bindings.posix;

import io.kvtier.bindings.posix.generated.PosixApi;

/** What the kernel is told about memory; see madvise(2). */
public enum Advice {
    /** Nothing in particular; takes RANDOM and SEQUENTIAL back. */
    NORMAL,
    /** Pages of a file are used in no order. */
    RANDOM,
    /** Pages of a file are used in order. */
    SEQUENTIAL,
    /** Pages of a file will be used soon. */
    WILL_NEED,
    /** Gives pages back at once; those of anonymous memory read as zeros then, those of a file as the file. */
    DONT_NEED,
    /** Processes that this one starts do not get it. */
    DONT_FORK,
    /** Transparent huge pages where the system's setting is {@code madvise} or {@code always}. */
    HUGE_PAGES,
    /** No transparent huge pages. */
    NO_HUGE_PAGES,
    /** Core dumps leave it out. */
    DONT_DUMP,
    /** Makes all pages present for reading; needs Linux 5.14. */
    POPULATE_READ,
    /** Makes all pages present for writing, and fails where memory is short instead of later; needs Linux 5.14. */
    POPULATE_WRITE;

    int code() {
        return switch (this) {
            case NORMAL -> PosixApi.MADV_NORMAL();
            case RANDOM -> PosixApi.MADV_RANDOM();
            case SEQUENTIAL -> PosixApi.MADV_SEQUENTIAL();
            case WILL_NEED -> PosixApi.MADV_WILLNEED();
            case DONT_NEED -> PosixApi.MADV_DONTNEED();
            case DONT_FORK -> PosixApi.MADV_DONTFORK();
            case HUGE_PAGES -> PosixApi.MADV_HUGEPAGE();
            case NO_HUGE_PAGES -> PosixApi.MADV_NOHUGEPAGE();
            case DONT_DUMP -> PosixApi.MADV_DONTDUMP();
            case POPULATE_READ -> PosixApi.MADV_POPULATE_READ();
            case POPULATE_WRITE -> PosixApi.MADV_POPULATE_WRITE();
        };
    }
}
