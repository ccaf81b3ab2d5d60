package io.kvtier.bindings.posix;

import io.kvtier.bindings.Availability;
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
        if (Posix.availability() instanceof Availability.Absent absent) {
            return Availability.absent(NAME, absent.toString());
        }
        try (NativeFile direct = NativeFile.open(
                        file, NativeFile.Option.READ, NativeFile.Option.WRITE, NativeFile.Option.DIRECT);
                Arena arena = Arena.ofConfined()) {
            MemorySegment block = arena.allocate(blockBytes, blockBytes);
            direct.write(block, 0);
            long read = direct.read(block, 0);
            return read == blockBytes
                    ? Availability.present(NAME, "O_DIRECT", "blocks of " + blockBytes)
                    : Availability.absent(NAME, "a read of " + blockBytes + " bytes gives " + read);
        } catch (PosixException e) {
            return Availability.absent(NAME, String.valueOf(e.getMessage()));
        }
    }
}
