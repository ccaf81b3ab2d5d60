package io.kvtier.tier.file;

import io.kvtier.memory.Crc32c;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Reads and writes the records of a cache folder, one per file. Knows nothing of capacity or of what is there. */
final class RecordFiles {
    static final String SUFFIX = ".kvt";

    /** What the bytes of a file turned out to be. */
    enum ReadResult {
        READ,
        MISSING,
        WRONG
    }

    private static final ThreadLocal<ByteBuffer> HEADER =
            ThreadLocal.withInitial(() -> ByteBuffer.allocate(RecordHeader.BYTES));

    private static final long PID = ProcessHandle.current().pid();

    private final CacheFolder folder;
    private final AtomicLong temporaries = new AtomicLong();

    RecordFiles(CacheFolder folder) {
        this.folder = folder;
    }

    /** Returns the bytes that a record of so much payload takes on disk: header and payload in whole 4096-byte blocks. */
    static long diskBytes(long payloadBytes) {
        return RecordHeader.BYTES + (payloadBytes + 4095) / 4096 * 4096;
    }

    /** Returns the file of a key's record. */
    Path path(RecordKey key) {
        return key.path(folder.objects());
    }

    /** Writes a record to a temporary file and renames it: the file is there whole or not at all. */
    void write(Path target, RecordHeader header, MemorySegment payload) throws IOException {
        Path temporary = folder.temporary().resolve("record-" + PID + "-" + temporaries.getAndIncrement());
        try {
            writeFile(temporary, header, payload);
            move(temporary, target);
        } catch (IOException | RuntimeException e) {
            deleteSuppressing(temporary, e);
            throw e;
        }
    }

    /** Reads a record's payload if the file holds just this record; the destination is undefined otherwise. */
    ReadResult read(Path path, RecordHeader expected, MemorySegment destination) throws IOException {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            if (channel.size() != RecordHeader.BYTES + destination.byteSize()) {
                return ReadResult.WRONG;
            }
            ByteBuffer buffer = HEADER.get().clear();
            if (!readFully(channel, buffer) || RecordHeader.examine(buffer) != RecordHeader.Finding.VALID) {
                return ReadResult.WRONG;
            }
            RecordHeader header = RecordHeader.read(buffer);
            boolean right = header.key().equals(expected.key())
                    && header.payloadBytes() == destination.byteSize()
                    && header.checksum() == expected.checksum()
                    && readFully(channel, destination)
                    && Crc32c.of(destination) == header.checksum();
            return right ? ReadResult.READ : ReadResult.WRONG;
        } catch (NoSuchFileException e) {
            return ReadResult.MISSING;
        }
    }

    /** Reads the first 4096 bytes of a file into this thread's buffer; null if it is shorter. */
    static @Nullable ByteBuffer readHeader(FileChannel channel) throws IOException {
        ByteBuffer buffer = HEADER.get().clear();
        return readFully(channel, buffer) ? buffer : null;
    }

    /** Writes a record of its own, reads it back, compares and deletes it. */
    boolean selfTest() throws IOException {
        byte[] pattern = new byte[RecordHeader.BYTES + 17];
        for (int i = 0; i < pattern.length; i++) {
            pattern[i] = (byte) (i * 31 + (i >>> 8));
        }
        MemorySegment payload = MemorySegment.ofArray(pattern);
        RecordHeader header =
                new RecordHeader(pattern.length, Crc32c.of(payload), 0, 0, new RecordKey(new byte[] {1}, new byte[32]));
        Path first = folder.temporary().resolve("self-test");
        Path second = folder.temporary().resolve("self-test" + SUFFIX);
        try {
            writeFile(first, header, payload);
            move(first, second);
            MemorySegment back = MemorySegment.ofArray(new byte[pattern.length]);
            return read(second, header, back) == ReadResult.READ && payload.mismatch(back) < 0;
        } finally {
            Files.deleteIfExists(first);
            Files.deleteIfExists(second);
        }
    }

    private static void writeFile(Path path, RecordHeader header, MemorySegment payload) throws IOException {
        ByteBuffer buffer = HEADER.get();
        header.write(buffer);
        try (FileChannel channel = FileChannel.open(
                path, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
            writeFully(channel, buffer);
            for (long at = 0; at < payload.byteSize(); at += Window.BYTES) {
                writeFully(channel, Window.at(payload, at));
            }
        }
    }

    private static void move(Path from, Path to) throws IOException {
        try {
            Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
        } catch (NoSuchFileException e) {
            // Fan-out folders are made when the first record needs them.
            Files.createDirectories(to.getParent());
            Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    private static void writeFully(FileChannel channel, ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            if (channel.write(buffer) == 0) {
                throw new IOException("wrote nothing of " + buffer.remaining() + " bytes at " + channel.position());
            }
        }
    }

    private static boolean readFully(FileChannel channel, MemorySegment destination) throws IOException {
        for (long at = 0; at < destination.byteSize(); at += Window.BYTES) {
            if (!readFully(channel, Window.at(destination, at))) {
                return false;
            }
        }
        return true;
    }

    private static boolean readFully(FileChannel channel, ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            if (channel.read(buffer) <= 0) {
                return false;
            }
        }
        return true;
    }

    private static void deleteSuppressing(Path path, Exception cause) {
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
    }

    /** A ByteBuffer shows at most 2 GiB of a segment. */
    private static final class Window {
        static final long BYTES = 1L << 30;

        static ByteBuffer at(MemorySegment segment, long offset) {
            return segment.asSlice(offset, Math.min(BYTES, segment.byteSize() - offset))
                    .asByteBuffer();
        }
    }
}
