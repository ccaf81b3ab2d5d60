package io.kvtier.bindings.posix;

import io.kvtier.bindings.Availability;
import io.kvtier.bindings.posix.generated.PosixApi;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/** Whether a file system lets I/O go past the page cache. */
public final class DirectIo {
    private static final String NAME = "direct I/O";

    private DirectIo() {}

    /**
     * Writes and reads one block of a file with O_DIRECT.
     *
     * @param file an existing file; its first block is overwritten
     * @param blockBytes block size, a power of two
     */
    public static Availability probe(Path file, int blockBytes) {
        if (!System.getProperty("os.name").equals("Linux")) {
            return Availability.absent(NAME, "there is no O_DIRECT on " + System.getProperty("os.name"));
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = PosixNative.errnoState(arena);
            int flags = PosixApi.O_RDWR() | direct();
            int descriptor = PosixNative.open(state, arena.allocateFrom(file.toString()), flags, 0);
            if (descriptor < 0) {
                return Availability.absent(NAME, "open with O_DIRECT ends with " + error(state));
            }
            try {
                return writeAndRead(descriptor, blockBytes, state, arena);
            } finally {
                PosixNative.close(PosixNative.errnoState(arena), descriptor);
            }
        }
    }

    private static Availability writeAndRead(int descriptor, int bytes, MemorySegment state, Arena arena) {
        MemorySegment block = arena.allocate(bytes, bytes);
        long written = PosixNative.pwrite(state, descriptor, block, bytes, 0);
        if (written != bytes) {
            return Availability.absent(NAME, "a write of " + bytes + " bytes gives " + written + ", " + error(state));
        }
        long read = PosixNative.pread(state, descriptor, block, bytes, 0);
        return read == bytes
                ? Availability.present(NAME, "O_DIRECT", "blocks of " + bytes)
                : Availability.absent(NAME, "a read of " + bytes + " bytes gives " + read + ", " + error(state));
    }

    private static int direct() {
        return System.getProperty("os.arch").equals("aarch64")
                ? PosixApi.O_DIRECT_aarch64()
                : PosixApi.O_DIRECT_x86_64();
    }

    private static String error(MemorySegment state) {
        return PosixNative.text(PosixNative.errno(state));
    }
}
