package io.kvtier.bindings.posix;

import io.kvtier.bindings.Hold;
import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.internal.InFlight;
import io.kvtier.bindings.posix.generated.PosixApi;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;

/**
 * An open file or device. Reads and writes name their position, go on after short results until all is done or the file
 * ends, and allocate nothing. For any number of threads; calls block the thread, a virtual thread's carrier too. Whoever
 * opens it closes it.
 */
public final class NativeFile implements AutoCloseable {
    private static final String KIND = "posix.file";
    private static final int MODE = 0666;

    /** With O_DIRECT, a count that is no multiple of this can only be the file's end, and no next read could start there. */
    private static final long SMALLEST_BLOCK = 512;

    /** How to open a file. */
    public enum Option {
        /** For reading; the default if {@link #WRITE} is not there. */
        READ,
        /** For writing. */
        WRITE,
        /** Make the file if it is not there, readable and writable as the process's umask allows. */
        CREATE,
        /** With {@link #CREATE}: fail if it is there. */
        EXCLUSIVE,
        /** Drop what it contains. */
        TRUNCATE,
        /** Go past the page cache. Addresses, sizes and positions must be multiples of the device's block. */
        DIRECT,
        /** A write returns when its data is durable. */
        DSYNC,
        /** Reads do not change the time of last access; only the file's owner may ask for that. */
        NO_ATIME
    }

    private final String path;
    private final int descriptor;
    private final boolean direct;
    private final InFlight users;

    /** Takes a descriptor over. */
    NativeFile(String path, int descriptor, boolean direct) {
        this.path = path;
        this.descriptor = descriptor;
        this.direct = direct;
        this.users = new InFlight("the file " + path);
        NativeHandles.opened(KIND);
    }

    /**
     * Opens a file; processes that this one starts do not inherit it.
     *
     * @throws IllegalArgumentException if the options contradict each other, or the path is no path of the system
     * @throws PosixException if the system refuses: ENOENT, EACCES, EISDIR, EINVAL for DIRECT where it does not work, ...
     */
    public static NativeFile open(Path path, Option... options) {
        Posix.require();
        Set<Option> set = EnumSet.noneOf(Option.class);
        set.addAll(List.of(options));
        int flags = OpenFlags.of(path, set);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = Posix.text(arena, path);
            int descriptor;
            do {
                descriptor = PosixNative.open(name, flags, MODE);
            } while (PosixStatus.interrupted(descriptor));
            PosixStatus.check("open", descriptor, path + " " + set);
            return new NativeFile(path.toString(), descriptor, set.contains(Option.DIRECT));
        }
    }

    /** Returns the path that it was opened by. */
    public String path() {
        return path;
    }

    /** Returns whether it goes past the page cache. */
    public boolean isDirect() {
        return direct;
    }

    /**
     * Returns the system's number for it, for other native code. The number may mean another file once this one is closed:
     * take a {@link #hold} first.
     *
     * @throws IllegalStateException if it is closed
     */
    public int descriptor() {
        if (users.isClosed()) {
            throw new IllegalStateException("the file " + path + " is closed");
        }
        return descriptor;
    }

    /**
     * Keeps the file open until the result is closed.
     *
     * @throws IllegalStateException if it is closed
     */
    public Hold hold() {
        return users.holdUntilClosed();
    }

    /**
     * Fills a buffer from a position.
     *
     * @return how many bytes were read: all, or fewer if the file ends before
     */
    public long read(MemorySegment target, long position) {
        Segments.requireWritable(target);
        Segments.requirePosition(path, position);
        users.enter();
        try {
            long done = 0;
            while (done < target.byteSize()) {
                long count =
                        PosixNative.pread(descriptor, rest(target, done), target.byteSize() - done, position + done);
                if (PosixStatus.interrupted(count)) {
                    continue;
                }
                if (count < 0) {
                    throw failure("pread", position + done, target.byteSize() - done);
                }
                done += count;
                if (isEnd(count)) {
                    break;
                }
            }
            return done;
        } finally {
            users.exit();
        }
    }

    /**
     * Fills a part of a buffer from a position.
     *
     * @return how many bytes were read: all, or fewer if the file ends before
     */
    public long read(MemorySegment target, long offset, long bytes, long position) {
        return read(Segments.slice(target, offset, bytes), position);
    }

    /**
     * Fills buffers in their order from a position.
     *
     * @return how many bytes were read: all, or fewer if the file ends before
     */
    public long read(IoVectors targets, long position) {
        targets.requireUsable(true);
        Segments.requirePosition(path, position);
        users.enter();
        try {
            long done = 0;
            while (done < targets.bytes()) {
                long count = PosixNative.preadv(descriptor, targets.rest(), targets.restCount(), position + done);
                if (PosixStatus.interrupted(count)) {
                    continue;
                }
                if (count < 0) {
                    throw failure("preadv", position + done, targets.bytes() - done);
                }
                done += count;
                targets.advance(count);
                if (isEnd(count)) {
                    break;
                }
            }
            return done;
        } finally {
            targets.rewind();
            users.exit();
        }
    }

    /**
     * Writes a buffer at a position.
     *
     * @throws PosixException if not all could be written: ENOSPC, EDQUOT, EIO, ...; a part may have been
     */
    public void write(MemorySegment source, long position) {
        Segments.requireNative(source);
        Segments.requirePosition(path, position);
        users.enter();
        try {
            long done = 0;
            while (done < source.byteSize()) {
                long count =
                        PosixNative.pwrite(descriptor, rest(source, done), source.byteSize() - done, position + done);
                if (!PosixStatus.interrupted(count)) {
                    done += written("pwrite", count, position + done, source.byteSize() - done);
                }
            }
        } finally {
            users.exit();
        }
    }

    /**
     * Writes a part of a buffer at a position.
     *
     * @throws PosixException if not all could be written: ENOSPC, EDQUOT, EIO, ...; a part may have been
     */
    public void write(MemorySegment source, long offset, long bytes, long position) {
        write(Segments.slice(source, offset, bytes), position);
    }

    /**
     * Writes buffers in their order from a position.
     *
     * @throws PosixException if not all could be written: ENOSPC, EDQUOT, EIO, ...; a part may have been
     */
    public void write(IoVectors sources, long position) {
        sources.requireUsable(false);
        Segments.requirePosition(path, position);
        users.enter();
        try {
            long done = 0;
            while (done < sources.bytes()) {
                long count = PosixNative.pwritev(descriptor, sources.rest(), sources.restCount(), position + done);
                if (!PosixStatus.interrupted(count)) {
                    done += written("pwritev", count, position + done, sources.bytes() - done);
                    sources.advance(count);
                }
            }
        } finally {
            sources.rewind();
            users.exit();
        }
    }

    /**
     * Makes sure that a range has its space on the device; the file grows if it ends before the range.
     *
     * @throws PosixException with EOPNOTSUPP where the file system cannot, with ENOSPC where there is no space
     */
    public void allocate(long position, long bytes) {
        fallocate(0, position, bytes);
    }

    /** Gives the space of a range back; it reads as zeros then, and the file keeps its size. */
    public void punchHole(long position, long bytes) {
        fallocate(PosixApi.FALLOC_FL_PUNCH_HOLE() | PosixApi.FALLOC_FL_KEEP_SIZE(), position, bytes);
    }

    /** Makes a range read as zeros and keeps its space where the file system can; the file keeps its size. */
    public void zeroRange(long position, long bytes) {
        fallocate(PosixApi.FALLOC_FL_ZERO_RANGE() | PosixApi.FALLOC_FL_KEEP_SIZE(), position, bytes);
    }

    private void fallocate(int mode, long position, long bytes) {
        Segments.requireRange(path, position, bytes);
        call("fallocate", () -> PosixNative.fallocate(descriptor, mode, position, bytes), position, bytes);
    }

    /** Makes the file shorter or longer; what is new reads as zeros and takes no space. */
    public void truncate(long bytes) {
        Segments.requirePosition(path, bytes);
        call("ftruncate", () -> PosixNative.ftruncate(descriptor, bytes), 0, bytes);
    }

    /** Makes data and all of what the system knows of the file durable. */
    public void sync() {
        call("fsync", () -> PosixNative.fsync(descriptor), 0, 0);
    }

    /** Makes data durable, and of what the system knows of the file only what it takes to read it. */
    public void dataSync() {
        call("fdatasync", () -> PosixNative.fdatasync(descriptor), 0, 0);
    }

    /** Tells the system that a range will not be needed soon: its pages leave the page cache unless they are dirty. */
    public void dropCached(long position, long bytes) {
        Segments.requirePosition(path, position);
        users.enter();
        try {
            int error = PosixNative.posixFadvise(descriptor, position, bytes, PosixApi.POSIX_FADV_DONTNEED());
            if (error != 0) {
                throw PosixStatus.failure("posix_fadvise", error, arguments(position, bytes));
            }
        } finally {
            users.exit();
        }
    }

    /** Returns the size of the file or block device, in bytes. */
    public long size() {
        return call("lseek", () -> PosixNative.lseek(descriptor, 0, PosixApi.SEEK_END()), 0, 0);
    }

    /** Returns the logical block of a block device, in bytes, which DIRECT needs; empty for anything else. */
    public OptionalInt blockBytes() {
        users.enter();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment answer = arena.allocate(ValueLayout.JAVA_INT);
            return PosixNative.ioctl(descriptor, PosixApi.BLKSSZGET(), answer) < 0
                    ? OptionalInt.empty()
                    : OptionalInt.of(answer.get(ValueLayout.JAVA_INT, 0));
        } finally {
            users.exit();
        }
    }

    /**
     * Waits up to 10 seconds for calls of other threads and closes the file. Closing twice does nothing.
     *
     * @throws IllegalStateException if there is a {@link #hold} on it or a call does not end: it stays open
     * @throws PosixException if the system reports an earlier write's error only now; the file is closed
     */
    @Override
    public void close() {
        if (users.close()) {
            NativeHandles.closed(KIND);
            // Never again after EINTR: Linux has closed it then.
            int answer = PosixNative.close(descriptor);
            if (!PosixStatus.interrupted(answer)) {
                PosixStatus.check("close", answer, path);
            }
        }
    }

    /** Returns whether {@link #close} has succeeded. */
    public boolean isClosed() {
        return users.isClosed();
    }

    /** Returns the system's number for it, for callers that have a hold. */
    int number() {
        return descriptor;
    }

    /** Returns who uses it now, for what takes holds without an object for each. */
    InFlight users() {
        return users;
    }

    @Override
    public String toString() {
        return "NativeFile[" + path + (users.isClosed() ? ", closed]" : ", descriptor " + descriptor + "]");
    }

    private interface Call {
        long run();
    }

    private long call(String function, Call call, long position, long bytes) {
        users.enter();
        try {
            long answer;
            do {
                answer = call.run();
            } while (PosixStatus.interrupted(answer));
            if (answer < 0) {
                throw failure(function, position, bytes);
            }
            return answer;
        } finally {
            users.exit();
        }
    }

    private long written(String function, long count, long position, long bytes) {
        if (count < 0) {
            throw failure(function, position, bytes);
        }
        if (count == 0) {
            throw PosixStatus.failure(function, PosixApi.EIO(), "nothing was written of " + arguments(position, bytes));
        }
        return count;
    }

    private boolean isEnd(long count) {
        return count == 0 || (direct && count % SMALLEST_BLOCK != 0);
    }

    private static MemorySegment rest(MemorySegment buffer, long done) {
        return done == 0 ? buffer : buffer.asSlice(done);
    }

    private PosixException failure(String function, long position, long bytes) {
        return PosixStatus.failure(function, arguments(position, bytes));
    }

    private String arguments(long position, long bytes) {
        return path + ", " + bytes + " bytes at " + position + (direct ? ", O_DIRECT" : "");
    }
}
