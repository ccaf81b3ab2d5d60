package io.kvtier.tier.file;

import io.kvtier.object.CacheIdentity;
import io.kvtier.object.KeySpaceEncoding;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/**
 * The header of a record, format version 1. All numbers are little-endian; what is not named is zero. docs/format.md is
 * the specification.
 *
 * <pre>
 *     0  8  magic              89 4B 56 54 0D 0A 1A 0A
 *     8  4  version            1
 *    12  4  header bytes       4096
 *    16  4  header CRC-32C     over the 4096 bytes with this field zero
 *    20  4  payload CRC-32C    over the payload as stored
 *    24  8  payload bytes      as stored
 *    32  8  object bytes       before the codec
 *    40  4  codec              0 = raw
 *    44  4  flags              0
 *    48  8  generation         of the slot or segment; 0 in a file of its own
 *    56  8  sequence           order of writing
 *    64  8  time               ms since 1970
 *   128 32  chunk hash         shorter ones followed by zeros
 *   160  4  key space bytes    n
 *   164  n  key space          KeySpaceEncoding
 *  4096     payload
 * </pre>
 *
 * @param payloadBytes bytes of the payload
 * @param checksum CRC-32C of the payload
 * @param sequence number that says which of two records was written first
 * @param timeMillis time of writing
 * @param key the object's key
 */
record RecordHeader(long payloadBytes, int checksum, long sequence, long timeMillis, RecordKey key) {
    static final int BYTES = 4096;
    static final int VERSION = 1;
    static final int HASH_BYTES = CacheIdentity.MAX_HASH_BYTES;

    private static final long MAGIC = Long.reverseBytes(0x894B56540D0A1A0AL);
    private static final int VERSION_AT = 8;
    private static final int HEADER_BYTES_AT = 12;
    private static final int HEADER_CRC_AT = 16;
    private static final int PAYLOAD_CRC_AT = 20;
    private static final int PAYLOAD_BYTES_AT = 24;
    private static final int OBJECT_BYTES_AT = 32;
    private static final int CODEC_AT = 40;
    private static final int FLAGS_AT = 44;
    private static final int GENERATION_AT = 48;
    private static final int SEQUENCE_AT = 56;
    private static final int TIME_AT = 64;
    private static final int HASH_AT = 128;
    private static final int KEY_SPACE_BYTES_AT = 160;
    private static final int KEY_SPACE_AT = 164;
    private static final int RAW_CODEC = 0;
    private static final byte[] ZEROS = new byte[BYTES];

    /** What 4096 bytes turned out to be. */
    enum Finding {
        /** A header of this version that is right. */
        VALID,
        /** A right header of a newer version, or with a codec or flag that this version does not know. */
        NEWER,
        /** Anything else. */
        DAMAGED
    }

    /** Fills a buffer of 4096 bytes with the header and leaves it ready to be written. */
    void write(ByteBuffer buffer) {
        buffer.clear().order(ByteOrder.LITTLE_ENDIAN);
        buffer.put(ZEROS).clear();
        buffer.putLong(0, MAGIC);
        buffer.putInt(VERSION_AT, VERSION).putInt(HEADER_BYTES_AT, BYTES);
        buffer.putInt(PAYLOAD_CRC_AT, checksum);
        buffer.putLong(PAYLOAD_BYTES_AT, payloadBytes).putLong(OBJECT_BYTES_AT, payloadBytes);
        buffer.putInt(CODEC_AT, RAW_CODEC);
        buffer.putLong(SEQUENCE_AT, sequence).putLong(TIME_AT, timeMillis);
        buffer.put(HASH_AT, key.chunkHash());
        buffer.putInt(KEY_SPACE_BYTES_AT, key.keySpace().length).put(KEY_SPACE_AT, key.keySpace());
        buffer.putInt(HEADER_CRC_AT, headerCrc(buffer));
    }

    /** Says what a buffer of 4096 bytes holds; {@link #read} may be called only if it is {@link Finding#VALID}. */
    static Finding examine(ByteBuffer buffer) {
        buffer.order(ByteOrder.LITTLE_ENDIAN);
        int keySpaceBytes = buffer.getInt(KEY_SPACE_BYTES_AT);
        if (buffer.getLong(0) != MAGIC || buffer.getInt(HEADER_CRC_AT) != headerCrc(buffer)) {
            return Finding.DAMAGED;
        }
        if (buffer.getInt(VERSION_AT) != VERSION
                || buffer.getInt(CODEC_AT) != RAW_CODEC
                || buffer.getInt(FLAGS_AT) != 0) {
            return Finding.NEWER;
        }
        boolean sound = buffer.getInt(HEADER_BYTES_AT) == BYTES
                && buffer.getLong(PAYLOAD_BYTES_AT) > 0
                && buffer.getLong(OBJECT_BYTES_AT) == buffer.getLong(PAYLOAD_BYTES_AT)
                && buffer.getLong(GENERATION_AT) == 0
                && keySpaceBytes > 0
                && keySpaceBytes <= KeySpaceEncoding.MAX_BYTES;
        return sound ? Finding.VALID : Finding.DAMAGED;
    }

    /** Reads a header that was found valid. */
    static RecordHeader read(ByteBuffer buffer) {
        byte[] hash = new byte[HASH_BYTES];
        buffer.get(HASH_AT, hash);
        byte[] keySpace = new byte[buffer.getInt(KEY_SPACE_BYTES_AT)];
        buffer.get(KEY_SPACE_AT, keySpace);
        return new RecordHeader(
                buffer.getLong(PAYLOAD_BYTES_AT),
                buffer.getInt(PAYLOAD_CRC_AT),
                buffer.getLong(SEQUENCE_AT),
                buffer.getLong(TIME_AT),
                new RecordKey(keySpace, hash));
    }

    private static int headerCrc(ByteBuffer buffer) {
        CRC32C crc = new CRC32C();
        crc.update(buffer.slice(0, HEADER_CRC_AT));
        crc.update(ZEROS, 0, Integer.BYTES);
        crc.update(buffer.slice(PAYLOAD_CRC_AT, BYTES - PAYLOAD_CRC_AT));
        return (int) crc.getValue();
    }
}
