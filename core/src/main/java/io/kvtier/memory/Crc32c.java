package io.kvtier.memory;

import java.lang.foreign.MemorySegment;
import java.util.zip.CRC32C;

/** CRC-32C (Castagnoli, RFC 3720 appendix B.4) of memory; the JDK computes it with the processor's instruction. */
public final class Crc32c {
    // A ByteBuffer holds at most 2 GiB.
    private static final long WINDOW = 1L << 30;

    private Crc32c() {}

    /** Returns the checksum of a segment's bytes. */
    public static int of(MemorySegment segment) {
        CRC32C crc = new CRC32C();
        long size = segment.byteSize();
        for (long at = 0; at < size; at += WINDOW) {
            crc.update(segment.asSlice(at, Math.min(WINDOW, size - at)).asByteBuffer());
        }
        return (int) crc.getValue();
    }
}
