package io.kvtier.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class Crc32cTest {
    /** RFC 3720, appendix B.4; the RFC prints the CRC's bytes in the order in which they are sent. */
    static Stream<Arguments> rfc3720() {
        byte[] ones = new byte[32];
        Arrays.fill(ones, (byte) 0xFF);
        byte[] up = new byte[32];
        byte[] down = new byte[32];
        for (int i = 0; i < 32; i++) {
            up[i] = (byte) i;
            down[i] = (byte) (31 - i);
        }
        byte[] read = new byte[48];
        read[0] = 0x01;
        read[1] = (byte) 0xC0;
        read[16] = 0x14;
        read[22] = 0x04;
        read[27] = 0x14;
        read[31] = 0x18;
        read[32] = 0x28;
        read[40] = 0x02;
        return Stream.of(
                Arguments.of("32 bytes of zeroes", new byte[32], 0xAA36918A),
                Arguments.of("32 bytes of ones", ones, 0x43ABA862),
                Arguments.of("32 bytes incrementing", up, 0x4E79DD46),
                Arguments.of("32 bytes decrementing", down, 0x5CDB3F11),
                Arguments.of("an iSCSI SCSI Read (10) command PDU", read, 0x563A96D9));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void rfc3720(String name, byte[] bytes, int asSent) {
        assertThat(Crc32c.of(MemorySegment.ofArray(bytes))).as(name).isEqualTo(Integer.reverseBytes(asSent));
    }

    @Property
    void isTheJdksOnHeapAndOffHeap(@ForAll byte[] bytes) {
        CRC32C expected = new CRC32C();
        expected.update(bytes);
        MemorySegment heap = MemorySegment.ofArray(bytes);
        assertThat(Crc32c.of(heap)).isEqualTo((int) expected.getValue());
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment offHeap = arena.allocate(bytes.length).copyFrom(heap);
            assertThat(Crc32c.of(offHeap)).isEqualTo((int) expected.getValue());
        }
    }
}
