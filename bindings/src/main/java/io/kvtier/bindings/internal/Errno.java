package io.kvtier.bindings.internal;

import io.kvtier.bindings.posix.generated.PosixApi;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.VarHandle;
import java.util.Map;

/**
 * The C library's error number. It can only be captured by the call that sets it: link the function with {@link #CAPTURE}
 * and pass {@link #state} as its first argument.
 */
public final class Errno {
    /** Links a function so that it captures the number. */
    public static final Linker.Option CAPTURE = Linker.Option.captureCallState("errno");

    private static final StructLayout LAYOUT = Linker.Option.captureStateLayout();
    private static final VarHandle VALUE = LAYOUT.varHandle(PathElement.groupElement("errno"));
    private static final ThreadLocal<MemorySegment> STATE =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(LAYOUT));

    private static final Map<Integer, String> NAMES = Map.ofEntries(
            Map.entry(PosixApi.EPERM(), "EPERM"),
            Map.entry(PosixApi.ENOENT(), "ENOENT"),
            Map.entry(PosixApi.EINTR(), "EINTR"),
            Map.entry(PosixApi.EIO(), "EIO"),
            Map.entry(PosixApi.ENXIO(), "ENXIO"),
            Map.entry(PosixApi.EBADF(), "EBADF"),
            Map.entry(PosixApi.EAGAIN(), "EAGAIN"),
            Map.entry(PosixApi.ENOMEM(), "ENOMEM"),
            Map.entry(PosixApi.EACCES(), "EACCES"),
            Map.entry(PosixApi.EFAULT(), "EFAULT"),
            Map.entry(PosixApi.EBUSY(), "EBUSY"),
            Map.entry(PosixApi.EEXIST(), "EEXIST"),
            Map.entry(PosixApi.ENODEV(), "ENODEV"),
            Map.entry(PosixApi.ENOTDIR(), "ENOTDIR"),
            Map.entry(PosixApi.EISDIR(), "EISDIR"),
            Map.entry(PosixApi.EINVAL(), "EINVAL"),
            Map.entry(PosixApi.ENFILE(), "ENFILE"),
            Map.entry(PosixApi.EMFILE(), "EMFILE"),
            Map.entry(PosixApi.ENOTTY(), "ENOTTY"),
            Map.entry(PosixApi.EFBIG(), "EFBIG"),
            Map.entry(PosixApi.ENOSPC(), "ENOSPC"),
            Map.entry(PosixApi.ESPIPE(), "ESPIPE"),
            Map.entry(PosixApi.EROFS(), "EROFS"),
            Map.entry(PosixApi.ENAMETOOLONG(), "ENAMETOOLONG"),
            Map.entry(PosixApi.ENOSYS(), "ENOSYS"),
            Map.entry(PosixApi.ENODATA(), "ENODATA"),
            Map.entry(PosixApi.ETIME(), "ETIME"),
            Map.entry(PosixApi.EOVERFLOW(), "EOVERFLOW"),
            Map.entry(PosixApi.EOPNOTSUPP(), "EOPNOTSUPP"),
            Map.entry(PosixApi.ESTALE(), "ESTALE"),
            Map.entry(PosixApi.EDQUOT(), "EDQUOT"),
            Map.entry(PosixApi.ECANCELED(), "ECANCELED"),
            Map.entry(PosixApi.EXDEV(), "EXDEV"),
            Map.entry(PosixApi.ENOTEMPTY(), "ENOTEMPTY"),
            Map.entry(PosixApi.ELOOP(), "ELOOP"),
            Map.entry(PosixApi.EALREADY(), "EALREADY"));

    private Errno() {}

    /** Returns this thread's place for a captured number; the next call of this thread overwrites it. */
    public static MemorySegment state() {
        return STATE.get();
    }

    /** Returns the number that a call of this thread captured; it says something only if that call failed. */
    public static int last() {
        return (int) VALUE.get(STATE.get(), 0L);
    }

    /** Returns the name of a number, e.g. {@code ENOSPC}. */
    public static String name(int errno) {
        return NAMES.getOrDefault(errno, "errno " + errno);
    }
}
