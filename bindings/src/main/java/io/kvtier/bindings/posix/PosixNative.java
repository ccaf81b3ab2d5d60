package io.kvtier.bindings.posix;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.kvtier.bindings.internal.Downcalls;
import io.kvtier.bindings.internal.Errno;
import io.kvtier.bindings.internal.NativeLibraries;
import io.kvtier.bindings.posix.generated.PosixApi;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.stream.Stream;

/** The calls of the C library; each leaves its errno in {@link Errno#last}. */
final class PosixNative {
    private static final MethodHandle OPEN =
            handle("open", PosixApi.open$descriptor(), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle CLOSE = handle("close", PosixApi.close$descriptor());
    private static final MethodHandle PREAD = handle("pread", PosixApi.pread$descriptor());
    private static final MethodHandle PWRITE = handle("pwrite", PosixApi.pwrite$descriptor());
    private static final MethodHandle PREADV = handle("preadv", PosixApi.preadv$descriptor());
    private static final MethodHandle PWRITEV = handle("pwritev", PosixApi.pwritev$descriptor());
    private static final MethodHandle FALLOCATE = handle("fallocate", PosixApi.fallocate$descriptor());
    private static final MethodHandle FTRUNCATE = handle("ftruncate", PosixApi.ftruncate$descriptor());
    private static final MethodHandle FSYNC = handle("fsync", PosixApi.fsync$descriptor());
    private static final MethodHandle FDATASYNC = handle("fdatasync", PosixApi.fdatasync$descriptor());
    private static final MethodHandle LSEEK = handle("lseek", PosixApi.lseek$descriptor());
    private static final MethodHandle IOCTL =
            handle("ioctl", PosixApi.ioctl$descriptor(), Linker.Option.firstVariadicArg(2));
    private static final MethodHandle STATFS = handle("statfs", PosixApi.statfs$descriptor());
    private static final MethodHandle MMAP = handle("mmap", PosixApi.mmap$descriptor());
    private static final MethodHandle MUNMAP = handle("munmap", PosixApi.munmap$descriptor());
    private static final MethodHandle MADVISE = handle("madvise", PosixApi.madvise$descriptor());
    private static final MethodHandle MLOCK = handle("mlock", PosixApi.mlock$descriptor());
    private static final MethodHandle MUNLOCK = handle("munlock", PosixApi.munlock$descriptor());
    private static final MethodHandle SHM_OPEN = handle("shm_open", PosixApi.shm_open$descriptor());
    private static final MethodHandle SHM_UNLINK = handle("shm_unlink", PosixApi.shm_unlink$descriptor());
    private static final MethodHandle GETRLIMIT = handle("getrlimit", PosixApi.getrlimit$descriptor());
    private static final MethodHandle SYSCONF = handle("sysconf", PosixApi.sysconf$descriptor());
    private static final MethodHandle POSIX_FADVISE =
            NativeLibraries.downcall("posix", "posix_fadvise", PosixApi.posix_fadvise$descriptor());

    /** The kernel's own calls have no functions; the number comes first, and what is no address goes as a word. */
    private static final MethodHandle MBIND =
            kernelCall(JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG, JAVA_LONG);

    private static final MethodHandle GET_MEMPOLICY =
            kernelCall(JAVA_LONG, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG);

    private static final MethodHandle IO_URING_SETUP = kernelCall(JAVA_LONG, JAVA_LONG, ADDRESS);
    private static final MethodHandle IO_URING_ENTER =
            kernelCall(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG);
    private static final MethodHandle IO_URING_REGISTER =
            kernelCall(JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG);

    private PosixNative() {}

    static int open(MemorySegment path, int flags, int mode) {
        try {
            return (int) OPEN.invokeExact(Errno.state(), path, flags, mode);
        } catch (Throwable e) {
            throw Downcalls.unexpected("open", e);
        }
    }

    static int close(int file) {
        try {
            return (int) CLOSE.invokeExact(Errno.state(), file);
        } catch (Throwable e) {
            throw Downcalls.unexpected("close", e);
        }
    }

    static long pread(int file, MemorySegment target, long size, long position) {
        try {
            return (long) PREAD.invokeExact(Errno.state(), file, target, size, position);
        } catch (Throwable e) {
            throw Downcalls.unexpected("pread", e);
        }
    }

    static long pwrite(int file, MemorySegment source, long size, long position) {
        try {
            return (long) PWRITE.invokeExact(Errno.state(), file, source, size, position);
        } catch (Throwable e) {
            throw Downcalls.unexpected("pwrite", e);
        }
    }

    static long preadv(int file, MemorySegment vectors, int count, long position) {
        try {
            return (long) PREADV.invokeExact(Errno.state(), file, vectors, count, position);
        } catch (Throwable e) {
            throw Downcalls.unexpected("preadv", e);
        }
    }

    static long pwritev(int file, MemorySegment vectors, int count, long position) {
        try {
            return (long) PWRITEV.invokeExact(Errno.state(), file, vectors, count, position);
        } catch (Throwable e) {
            throw Downcalls.unexpected("pwritev", e);
        }
    }

    static int fallocate(int file, int mode, long position, long size) {
        try {
            return (int) FALLOCATE.invokeExact(Errno.state(), file, mode, position, size);
        } catch (Throwable e) {
            throw Downcalls.unexpected("fallocate", e);
        }
    }

    static int ftruncate(int file, long size) {
        try {
            return (int) FTRUNCATE.invokeExact(Errno.state(), file, size);
        } catch (Throwable e) {
            throw Downcalls.unexpected("ftruncate", e);
        }
    }

    static int fsync(int file) {
        try {
            return (int) FSYNC.invokeExact(Errno.state(), file);
        } catch (Throwable e) {
            throw Downcalls.unexpected("fsync", e);
        }
    }

    static int fdatasync(int file) {
        try {
            return (int) FDATASYNC.invokeExact(Errno.state(), file);
        } catch (Throwable e) {
            throw Downcalls.unexpected("fdatasync", e);
        }
    }

    static long lseek(int file, long offset, int whence) {
        try {
            return (long) LSEEK.invokeExact(Errno.state(), file, offset, whence);
        } catch (Throwable e) {
            throw Downcalls.unexpected("lseek", e);
        }
    }

    static int ioctl(int file, long request, MemorySegment argument) {
        try {
            return (int) IOCTL.invokeExact(Errno.state(), file, request, argument);
        } catch (Throwable e) {
            throw Downcalls.unexpected("ioctl", e);
        }
    }

    static int statfs(MemorySegment path, MemorySegment answer) {
        try {
            return (int) STATFS.invokeExact(Errno.state(), path, answer);
        } catch (Throwable e) {
            throw Downcalls.unexpected("statfs", e);
        }
    }

    static MemorySegment mmap(MemorySegment address, long size, int protection, int flags, int file, long position) {
        try {
            return (MemorySegment) MMAP.invokeExact(Errno.state(), address, size, protection, flags, file, position);
        } catch (Throwable e) {
            throw Downcalls.unexpected("mmap", e);
        }
    }

    static int munmap(MemorySegment address, long size) {
        try {
            return (int) MUNMAP.invokeExact(Errno.state(), address, size);
        } catch (Throwable e) {
            throw Downcalls.unexpected("munmap", e);
        }
    }

    static int madvise(MemorySegment address, long size, int advice) {
        try {
            return (int) MADVISE.invokeExact(Errno.state(), address, size, advice);
        } catch (Throwable e) {
            throw Downcalls.unexpected("madvise", e);
        }
    }

    static int mlock(MemorySegment address, long size) {
        try {
            return (int) MLOCK.invokeExact(Errno.state(), address, size);
        } catch (Throwable e) {
            throw Downcalls.unexpected("mlock", e);
        }
    }

    static int munlock(MemorySegment address, long size) {
        try {
            return (int) MUNLOCK.invokeExact(Errno.state(), address, size);
        } catch (Throwable e) {
            throw Downcalls.unexpected("munlock", e);
        }
    }

    static int shmOpen(MemorySegment name, int flags, int mode) {
        try {
            return (int) SHM_OPEN.invokeExact(Errno.state(), name, flags, mode);
        } catch (Throwable e) {
            throw Downcalls.unexpected("shm_open", e);
        }
    }

    static int shmUnlink(MemorySegment name) {
        try {
            return (int) SHM_UNLINK.invokeExact(Errno.state(), name);
        } catch (Throwable e) {
            throw Downcalls.unexpected("shm_unlink", e);
        }
    }

    static int getrlimit(int resource, MemorySegment limit) {
        try {
            return (int) GETRLIMIT.invokeExact(Errno.state(), resource, limit);
        } catch (Throwable e) {
            throw Downcalls.unexpected("getrlimit", e);
        }
    }

    static long sysconf(int name) {
        try {
            return (long) SYSCONF.invokeExact(Errno.state(), name);
        } catch (Throwable e) {
            throw Downcalls.unexpected("sysconf", e);
        }
    }

    /** Returns the error number, not -1. */
    static int posixFadvise(int file, long position, long size, int advice) {
        try {
            return (int) POSIX_FADVISE.invokeExact(file, position, size, advice);
        } catch (Throwable e) {
            throw Downcalls.unexpected("posix_fadvise", e);
        }
    }

    static long mbind(MemorySegment address, long size, long mode, MemorySegment nodes, long bits, long flags) {
        int number = Posix.byArchitecture(PosixApi.SYS_mbind_x86_64(), PosixApi.SYS_mbind_aarch64());
        try {
            return (long) MBIND.invokeExact(Errno.state(), (long) number, address, size, mode, nodes, bits, flags);
        } catch (Throwable e) {
            throw Downcalls.unexpected("mbind", e);
        }
    }

    static long getMempolicy(MemorySegment mode, MemorySegment nodes, long bits, MemorySegment address, long flags) {
        int number = Posix.byArchitecture(PosixApi.SYS_get_mempolicy_x86_64(), PosixApi.SYS_get_mempolicy_aarch64());
        try {
            return (long) GET_MEMPOLICY.invokeExact(Errno.state(), (long) number, mode, nodes, bits, address, flags);
        } catch (Throwable e) {
            throw Downcalls.unexpected("get_mempolicy", e);
        }
    }

    static long ioUringSetup(long entries, MemorySegment parameters) {
        long number = PosixApi.SYS_io_uring_setup();
        try {
            return (long) IO_URING_SETUP.invokeExact(Errno.state(), number, entries, parameters);
        } catch (Throwable e) {
            throw Downcalls.unexpected("io_uring_setup", e);
        }
    }

    static long ioUringEnter(long ring, long submit, long wanted, long flags, MemorySegment argument, long size) {
        long number = PosixApi.SYS_io_uring_enter();
        try {
            return (long)
                    IO_URING_ENTER.invokeExact(Errno.state(), number, ring, submit, wanted, flags, argument, size);
        } catch (Throwable e) {
            throw Downcalls.unexpected("io_uring_enter", e);
        }
    }

    static long ioUringRegister(long ring, long what, MemorySegment argument, long count) {
        long number = PosixApi.SYS_io_uring_register();
        try {
            return (long) IO_URING_REGISTER.invokeExact(Errno.state(), number, ring, what, argument, count);
        } catch (Throwable e) {
            throw Downcalls.unexpected("io_uring_register", e);
        }
    }

    private static MethodHandle kernelCall(MemoryLayout... parameters) {
        return handle("syscall", FunctionDescriptor.of(JAVA_LONG, parameters), Linker.Option.firstVariadicArg(1));
    }

    private static MethodHandle handle(String name, FunctionDescriptor descriptor, Linker.Option... options) {
        Linker.Option[] all =
                Stream.concat(Stream.of(Errno.CAPTURE), Stream.of(options)).toArray(Linker.Option[]::new);
        return NativeLibraries.downcall("posix", name, descriptor, all);
    }
}
