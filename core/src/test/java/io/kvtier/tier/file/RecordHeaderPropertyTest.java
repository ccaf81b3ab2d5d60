package io.kvtier.tier.file;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvtier.tier.file.RecordHeader.Finding;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.arbitraries.ArrayArbitrary;
import net.jqwik.api.constraints.IntRange;

/** A header is read as it was written, or not at all. */
class RecordHeaderPropertyTest {
    private static final int VERSION_AT = 8;
    private static final int HEADER_CRC_AT = 16;
    private static final int PAYLOAD_BYTES_AT = 24;
    private static final int OBJECT_BYTES_AT = 32;
    private static final int CODEC_AT = 40;
    private static final int FLAGS_AT = 44;
    private static final int GENERATION_AT = 48;
    private static final int KEY_SPACE_BYTES_AT = 160;

    @Property(tries = 300)
    void readsWhatWasWritten(@ForAll("headers") RecordHeader header) {
        ByteBuffer buffer = written(header);
        assertThat(buffer.remaining()).isEqualTo(RecordHeader.BYTES);
        assertThat(RecordHeader.examine(buffer)).isEqualTo(Finding.VALID);
        assertThat(RecordHeader.read(buffer)).isEqualTo(header);
        assertThat(written(RecordHeader.read(buffer))).isEqualTo(buffer);
    }

    @Property(tries = 300)
    void fieldsLieWhereTheFormatSays(@ForAll("headers") RecordHeader header) {
        ByteBuffer buffer = written(header).order(ByteOrder.LITTLE_ENDIAN);
        assertThat(buffer.order(ByteOrder.BIG_ENDIAN).getLong(0)).isEqualTo(0x894B56540D0A1A0AL);
        buffer.order(ByteOrder.LITTLE_ENDIAN);
        assertThat(buffer.getInt(VERSION_AT)).isEqualTo(1);
        assertThat(buffer.getInt(12)).isEqualTo(4096);
        assertThat(buffer.getInt(HEADER_CRC_AT)).isEqualTo(crc(buffer));
        assertThat(buffer.getInt(20)).isEqualTo(header.checksum());
        assertThat(buffer.getLong(PAYLOAD_BYTES_AT)).isEqualTo(header.payloadBytes());
        assertThat(buffer.getLong(OBJECT_BYTES_AT)).isEqualTo(header.payloadBytes());
        assertThat(buffer.getLong(CODEC_AT)).isZero();
        assertThat(buffer.getLong(GENERATION_AT)).isZero();
        assertThat(buffer.getLong(56)).isEqualTo(header.sequence());
        assertThat(buffer.getLong(64)).isEqualTo(header.timeMillis());
        assertThat(bytes(buffer, 72, 56)).containsOnly(0);
        assertThat(bytes(buffer, 128, 32)).isEqualTo(header.key().chunkHash());
        int n = buffer.getInt(KEY_SPACE_BYTES_AT);
        assertThat(bytes(buffer, 164, n)).isEqualTo(header.key().keySpace());
        assertThat(bytes(buffer, 164 + n, 3932 - n)).isEqualTo(new byte[3932 - n]);
    }

    @Property(tries = 10)
    void everyFlippedBitIsFound(@ForAll("headers") RecordHeader header) {
        ByteBuffer buffer = written(header);
        for (int bit = 0; bit < 8 * RecordHeader.BYTES; bit++) {
            flip(buffer, bit);
            if (RecordHeader.examine(buffer) == Finding.VALID) {
                assertThat(RecordHeader.read(buffer)).as("bit %d", bit).isEqualTo(header);
            }
            flip(buffer, bit);
        }
        assertThat(RecordHeader.examine(buffer)).isEqualTo(Finding.VALID);
    }

    @Property(tries = 300)
    void randomBytesAreDamaged(@ForAll("garbage") byte[] garbage) {
        assertThat(RecordHeader.examine(ByteBuffer.wrap(garbage))).isEqualTo(Finding.DAMAGED);
    }

    @Property(tries = 100)
    void otherVersionCodecOrFlagsAreNewer(
            @ForAll("headers") RecordHeader header, @ForAll @IntRange(min = 2) int version, @ForAll int code) {
        int other = code == 0 ? 1 : code;
        assertThat(foundWith(header, VERSION_AT, version)).isEqualTo(Finding.NEWER);
        assertThat(foundWith(header, CODEC_AT, other)).isEqualTo(Finding.NEWER);
        assertThat(foundWith(header, FLAGS_AT, other)).isEqualTo(Finding.NEWER);
    }

    @Property(tries = 50)
    void newerHeaderNeedsItsChecksumToo(@ForAll("headers") RecordHeader header, @ForAll @IntRange(min = 2) int other) {
        for (int at : new int[] {VERSION_AT, CODEC_AT, FLAGS_AT}) {
            ByteBuffer buffer = written(header).order(ByteOrder.LITTLE_ENDIAN);
            buffer.putInt(at, other);
            assertThat(RecordHeader.examine(buffer)).isEqualTo(Finding.DAMAGED);
        }
    }

    @Example
    void impossibleNumbersAreDamagedWhateverTheChecksum() {
        RecordHeader header = header(5000, new byte[] {1, 2, 3});
        for (int length : new int[] {0, -1, 3585, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
            assertThat(foundWith(header, KEY_SPACE_BYTES_AT, length)).isEqualTo(Finding.DAMAGED);
        }
        assertThat(foundWith(header, PAYLOAD_BYTES_AT, 4999)).isEqualTo(Finding.DAMAGED);
        assertThat(foundWith(header, OBJECT_BYTES_AT, 5001)).isEqualTo(Finding.DAMAGED);
        assertThat(foundWith(header, GENERATION_AT, 1)).isEqualTo(Finding.DAMAGED);
        assertThat(foundWith(header, 12, 8192)).isEqualTo(Finding.DAMAGED);
        assertThat(foundWith(header(0, new byte[] {1}), 12, 4096)).isEqualTo(Finding.DAMAGED);
        assertThat(foundWith(header(-1, new byte[] {1}), 12, 4096)).isEqualTo(Finding.DAMAGED);
    }

    @Provide
    Arbitrary<RecordHeader> headers() {
        return Combinators.combine(
                        Arbitraries.longs().between(1, Long.MAX_VALUE),
                        Arbitraries.integers(),
                        Arbitraries.longs(),
                        Arbitraries.longs(),
                        someBytes().ofMinSize(1).ofMaxSize(3584),
                        someBytes().ofSize(32))
                .as((length, checksum, sequence, time, space, hash) ->
                        new RecordHeader(length, checksum, sequence, time, new RecordKey(space, hash)));
    }

    @Provide
    Arbitrary<byte[]> garbage() {
        return someBytes().ofSize(RecordHeader.BYTES);
    }

    private static ArrayArbitrary<Byte, byte[]> someBytes() {
        return Arbitraries.bytes().array(byte[].class);
    }

    private static RecordHeader header(long payloadBytes, byte[] keySpace) {
        return new RecordHeader(payloadBytes, 7, 8, 9, new RecordKey(keySpace, new byte[32]));
    }

    private static Finding foundWith(RecordHeader header, int at, int value) {
        ByteBuffer buffer = written(header).order(ByteOrder.LITTLE_ENDIAN);
        buffer.putInt(at, value);
        buffer.putInt(HEADER_CRC_AT, crc(buffer));
        return RecordHeader.examine(buffer);
    }

    private static ByteBuffer written(RecordHeader header) {
        ByteBuffer buffer = ByteBuffer.allocate(RecordHeader.BYTES);
        header.write(buffer);
        return buffer;
    }

    private static int crc(ByteBuffer buffer) {
        byte[] copy = bytes(buffer, 0, RecordHeader.BYTES);
        java.util.Arrays.fill(copy, HEADER_CRC_AT, HEADER_CRC_AT + 4, (byte) 0);
        CRC32C crc = new CRC32C();
        crc.update(copy);
        return (int) crc.getValue();
    }

    private static byte[] bytes(ByteBuffer buffer, int at, int length) {
        byte[] bytes = new byte[length];
        buffer.get(at, bytes);
        return bytes;
    }

    private static void flip(ByteBuffer buffer, int bit) {
        buffer.put(bit / 8, (byte) (buffer.get(bit / 8) ^ 1 << bit % 8));
    }
}
