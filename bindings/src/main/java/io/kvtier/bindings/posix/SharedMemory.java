package io.kvtier.bindings.posix;

import io.kvtier.bindings.posix.generated.PosixApi;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * Memory with a name that processes of one machine share. It lives, and takes space, until it is unlinked and all who map it
 * are gone, whether they ended well or not. Whoever makes or opens it closes it; what was mapped stays.
 */
public final class SharedMemory implements AutoCloseable {
    private static final Path FOLDER = Path.of("/dev/shm");
    private static final int OWNER_ONLY = 0600;
    private static final int LONGEST_NAME = 250;

    private final String name;
    private final NativeFile file;

    private SharedMemory(String name, int descriptor) {
        this.name = name;
        this.file = new NativeFile("shared memory " + name, descriptor, false);
    }

    /**
     * Makes shared memory of zeros for processes of the same user. It takes space only as it is touched or
     * {@link #reserve}d.
     *
     * @param name letters of a file name, at most 250 bytes, without a slash
     * @throws PosixException with EEXIST if there is one of this name
     */
    public static SharedMemory create(String name, long bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("shared memory must have 1 byte at least, not " + bytes + ": " + name);
        }
        SharedMemory memory = open(name, PosixApi.O_RDWR() | PosixApi.O_CREAT() | PosixApi.O_EXCL());
        try {
            memory.file.truncate(bytes);
            return memory;
        } catch (PosixException e) {
            try (memory) {
                unlink(name);
            }
            throw e;
        }
    }

    /**
     * Opens shared memory that is there.
     *
     * @param writable whether it is going to be written
     * @throws PosixException with ENOENT if there is none, with EACCES if it belongs to another user
     */
    public static SharedMemory open(String name, boolean writable) {
        return open(name, writable ? PosixApi.O_RDWR() : PosixApi.O_RDONLY());
    }

    private static SharedMemory open(String name, int flags) {
        Posix.require();
        try (Arena arena = Arena.ofConfined()) {
            int descriptor = PosixNative.shmOpen(text(arena, name), flags | PosixApi.O_CLOEXEC(), OWNER_ONLY);
            PosixStatus.check("shm_open", descriptor, name);
            return new SharedMemory(name, descriptor);
        }
    }

    /**
     * Removes a name. Who has the memory mapped keeps it.
     *
     * @return whether there was one
     */
    public static boolean unlink(String name) {
        Posix.require();
        try (Arena arena = Arena.ofConfined()) {
            int answer = PosixNative.shmUnlink(text(arena, name));
            if (PosixStatus.failed(answer, PosixApi.ENOENT())) {
                return false;
            }
            PosixStatus.check("shm_unlink", answer, name);
            return true;
        }
    }

    /** Returns the names that begin with a prefix, in order; those that nobody uses any more too. */
    public static List<String> names(String prefix) {
        Posix.require();
        if (!Files.isDirectory(FOLDER)) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(FOLDER)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.startsWith(prefix))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new IllegalStateException("cannot list " + FOLDER + ": " + e.getMessage(), e);
        }
    }

    private static MemorySegment text(Arena arena, String name) {
        int bytes = name.getBytes(StandardCharsets.UTF_8).length;
        if (bytes == 0 || bytes > LONGEST_NAME || name.contains("/") || name.contains("\0") || name.matches("\\.+")) {
            throw new IllegalArgumentException("a name of shared memory has 1 to " + LONGEST_NAME
                    + " bytes, no slash and no NUL, and is not only dots: '" + name + "' with " + bytes + " bytes");
        }
        return arena.allocateFrom("/" + name);
    }

    /** Returns its name. */
    public String name() {
        return name;
    }

    /** Returns its size in bytes; 0 means that its maker has not got that far. */
    public long bytes() {
        return file.size();
    }

    /**
     * Makes sure that a range has its memory; without that, touching it when the file system of shared memory is full kills
     * the thread that does.
     *
     * @throws PosixException with ENOSPC if there is not so much
     */
    public void reserve(long offset, long bytes) {
        Objects.checkFromIndexSize(offset, bytes, bytes());
        file.allocate(offset, bytes);
    }

    /**
     * Maps all of it. The result is closed by the caller, before or after this.
     *
     * @param writable whether it may be written; it must have been made or opened for that
     */
    public MappedMemory map(boolean writable) {
        return MappedMemory.ofFile(file, 0, bytes(), writable);
    }

    /** Gives the handle back; what was mapped and the name stay. Closing twice does nothing. */
    @Override
    public void close() {
        file.close();
    }
}
