package io.kvtier.bindings.cufile;

import static java.lang.foreign.ValueLayout.ADDRESS;

import io.kvtier.bindings.Hold;
import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.cuda.CudaMemory;
import io.kvtier.bindings.cufile.generated.CUfileDescr_t;
import io.kvtier.bindings.cufile.generated.CuFileApi;
import io.kvtier.bindings.internal.Errno;
import io.kvtier.bindings.internal.InFlight;
import io.kvtier.bindings.posix.NativeFile;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/**
 * A file that cuFile knows. Reads and writes name their position, go on after short results until all is done or the file
 * ends, and allocate nothing. Direct ways want multiples of 4096 bytes for position, size and offset; others work, but slower.
 * What is written is durable only after {@link NativeFile#dataSync}.
 *
 * <p>For any number of threads; calls block the thread, a virtual thread's carrier too. They do not wait for work of CUDA
 * streams: let it end first, or use {@link StreamTransfers}. Whoever registers a file closes it, before the driver.
 */
public final class RegisteredFile implements AutoCloseable {
    private static final String KIND = "cufile.file";

    /** What one call is asked to move at most: Linux moves no 2 GiB at once. */
    private static final long MOST_PER_CALL = 1L << 30;

    private final Driver driver;
    private final MemorySegment handle;
    private final Hold file;
    private final InFlight users;

    private RegisteredFile(Driver driver, String name, MemorySegment handle, Hold file) {
        this.driver = driver;
        this.handle = handle;
        this.file = file;
        this.users = new InFlight("the registered file " + name);
        NativeHandles.opened(KIND);
    }

    /**
     * Opens and registers a file; closing this closes it.
     *
     * @param options as for {@link NativeFile#open}; with {@code DIRECT} it goes past the page cache
     * @throws IllegalArgumentException if the options contradict each other
     * @throws IllegalStateException if the driver is closed
     * @throws io.kvtier.bindings.posix.PosixException if the system refuses to open the file
     * @throws CuFileException if cuFile does not take the file, for example because of its file system
     */
    public static RegisteredFile open(Driver driver, Path path, NativeFile.Option... options) {
        NativeFile file = NativeFile.open(path, options);
        try {
            return register(driver, file.descriptor(), file.path(), file::close);
        } catch (RuntimeException e) {
            file.close();
            throw e;
        }
    }

    /**
     * Registers an open file. It cannot be closed as long as it is registered.
     *
     * @throws IllegalStateException if the file or the driver is closed
     * @throws CuFileException if cuFile does not take the file, or has it already
     */
    public static RegisteredFile register(Driver driver, NativeFile file) {
        Hold hold = file.hold();
        try {
            return register(driver, file.descriptor(), file.path(), hold);
        } catch (RuntimeException e) {
            hold.close();
            throw e;
        }
    }

    /**
     * Registers a file that somebody else opened. The caller must keep it open until this is closed: its number could mean
     * another file then.
     *
     * @param descriptor the system's number for it
     * @throws IllegalArgumentException if the number is negative
     * @throws IllegalStateException if the driver is closed
     * @throws CuFileException if cuFile does not take the file, or has it already
     */
    public static RegisteredFile register(Driver driver, int descriptor) {
        if (descriptor < 0) {
            throw new IllegalArgumentException("file descriptors are numbers from 0, not " + descriptor);
        }
        return register(driver, descriptor, "of descriptor " + descriptor, () -> {});
    }

    private static RegisteredFile register(Driver driver, int descriptor, String name, Hold file) {
        driver.users().hold();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment description = CUfileDescr_t.allocate(arena);
            CUfileDescr_t.type(description, CuFileApi.CU_FILE_HANDLE_TYPE_OPAQUE_FD());
            CUfileDescr_t.CUfileDescr_handle.fd(CUfileDescr_t.handle(description), descriptor);
            MemorySegment handle = arena.allocate(ADDRESS);
            CuFileStatus.check(
                    "cuFileHandleRegister",
                    CuFileApi.cuFileHandleRegister(CuFileStatus.result(), handle, description),
                    name);
            return new RegisteredFile(driver, name, handle.get(ADDRESS, 0), file);
        } catch (RuntimeException e) {
            driver.users().release();
            throw e;
        }
    }

    /**
     * Fills a part of a buffer from a position.
     *
     * @return how many bytes were read: all, or fewer if the file ends before
     * @throws CuFileException if not all could be read; a part may have been
     */
    public long read(RegisteredBuffer to, long offset, long bytes, long position) {
        Ranges.checkWritable(to, to.isWritable());
        return move(false, to, offset, bytes, position);
    }

    /**
     * Fills a part of memory that is not registered from a position.
     *
     * @return how many bytes were read: all, or fewer if the file ends before
     * @throws CuFileException if not all could be read; a part may have been
     */
    public long read(CudaMemory to, long offset, long bytes, long position) {
        Ranges.checkWritable(to, RegisteredBuffer.isWritable(to));
        return move(false, to, offset, bytes, position);
    }

    /**
     * Fills host memory that is not registered from a position.
     *
     * @return how many bytes were read: all, or fewer if the file ends before
     * @throws CuFileException if not all could be read; a part may have been
     */
    public long read(MemorySegment to, long position) {
        Ranges.checkNative(to);
        Ranges.checkWritable(to, !to.isReadOnly());
        return move(false, to, 0, to.byteSize(), position);
    }

    /**
     * Writes a part of a buffer at a position.
     *
     * @throws CuFileException if not all could be written; a part may have been
     */
    public void write(RegisteredBuffer from, long offset, long bytes, long position) {
        move(true, from, offset, bytes, position);
    }

    /**
     * Writes a part of memory that is not registered at a position.
     *
     * @throws CuFileException if not all could be written; a part may have been
     */
    public void write(CudaMemory from, long offset, long bytes, long position) {
        move(true, from, offset, bytes, position);
    }

    /**
     * Writes host memory that is not registered at a position.
     *
     * @throws CuFileException if not all could be written; a part may have been
     */
    public void write(MemorySegment from, long position) {
        Ranges.checkNative(from);
        move(true, from, 0, from.byteSize(), position);
    }

    private long move(boolean write, RegisteredBuffer buffer, long offset, long bytes, long position) {
        Ranges.checkMemory(buffer, offset, bytes, buffer.byteSize());
        buffer.users().enter();
        try {
            buffer.select();
            return move(write, buffer.base(), offset, bytes, position);
        } finally {
            buffer.users().exit();
        }
    }

    private long move(boolean write, CudaMemory memory, long offset, long bytes, long position) {
        Ranges.checkMemory(memory, offset, bytes, memory.byteSize());
        try (Hold _ = memory.hold()) {
            memory.device().select();
            return move(write, MemorySegment.ofAddress(memory.address()), offset, bytes, position);
        }
    }

    private long move(boolean write, MemorySegment base, long offset, long bytes, long position) {
        Ranges.checkPosition(this, position, bytes);
        users.enter();
        try {
            long done = 0;
            while (done < bytes) {
                long most = Math.min(bytes - done, MOST_PER_CALL);
                long count = write
                        ? CuFileNative.write(handle, base, most, position + done, offset + done)
                        : CuFileNative.read(handle, base, most, position + done, offset + done);
                if (count == 0 && !write) {
                    break;
                }
                if (count > 0) {
                    done += count;
                } else if (!CuFileStatus.interrupted(count)) {
                    throw failure(write, count, position + done, bytes - done);
                }
            }
            return done;
        } finally {
            users.exit();
        }
    }

    private CuFileException failure(boolean write, long result, long position, long bytes) {
        String function = write ? "cuFileWrite" : "cuFileRead";
        String arguments = bytes + " bytes at " + position + " of " + this;
        return result == 0
                ? CuFileStatus.shortIo(function, 0, "nothing was written of " + arguments)
                : CuFileStatus.failedIo(function, result == -1 ? Errno.last() : -result, 0, arguments);
    }

    /** Returns whether {@link #close} has succeeded. */
    public boolean isClosed() {
        return users.isClosed();
    }

    /**
     * Waits up to 10 seconds for reads and writes of other threads and ends the registration; the file itself is closed if
     * {@link #open} opened it. Closing twice does nothing.
     *
     * @throws IllegalStateException if a {@link Batch} or {@link StreamTransfers} uses it, or a call does not end: it stays
     *     registered; close it again later
     * @throws io.kvtier.bindings.posix.PosixException if the system reports an earlier write's error only now; it is closed
     */
    @Override
    public void close() {
        if (!users.close()) {
            return;
        }
        NativeHandles.closed(KIND);
        try {
            CuFileApi.cuFileHandleDeregister(handle);
        } finally {
            driver.users().release();
            file.close();
        }
    }

    @Override
    public String toString() {
        return users.toString();
    }

    /** Returns the {@code CUfileHandle_t}. */
    MemorySegment handle() {
        return handle;
    }

    /** Returns who uses the file: batches and streams hold it until native code has done with it. */
    InFlight users() {
        return users;
    }
}
