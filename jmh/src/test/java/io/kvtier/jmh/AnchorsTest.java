package io.kvtier.jmh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kvtier.transfer.HostMover;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The anchors compute the same as we do. */
class AnchorsTest {
    @ParameterizedTest
    @ValueSource(ints = {16, 256})
    void openSslComputesTheSameHashes(int chunkTokens) throws Exception {
        assumeTrue(OpenSslNative.missing() == null, () -> String.valueOf(OpenSslNative.missing()));
        ChunkHashBenchmark benchmark = hashing(chunkTokens);
        try {
            byte[] ours = benchmark.kvtier();
            benchmark.openSsl();
            assertThat(benchmark.openSslHashes()).isEqualTo(ours);
        } finally {
            benchmark.close();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {16, 256})
    void messageDigestComputesTheSameHashes(int chunkTokens) throws Exception {
        ChunkHashBenchmark benchmark = hashing(chunkTokens);
        try {
            assertThat(benchmark.messageDigest()).isEqualTo(benchmark.kvtier());
        } finally {
            benchmark.close();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {256, 1024, 4096})
    void copiesMoveTheSameBytes(int objectKib) {
        HostCopyBenchmark benchmark = copying(objectKib);
        try {
            byte[] expected = benchmark.onePiece.toArray(ValueLayout.JAVA_BYTE);
            assertThat(expected).hasSize(objectKib * 1024);

            benchmark.gather();
            assertObjectIs(expected, benchmark);
            benchmark.segmentCopy();
            assertObjectIs(expected, benchmark);
            assumeTrue(LibcNative.missing() == null, () -> String.valueOf(LibcNative.missing()));
            benchmark.memcpy();
            assertObjectIs(expected, benchmark);
        } finally {
            benchmark.close();
        }
    }

    @Test
    void scatterUndoesGather() {
        HostCopyBenchmark benchmark = copying(256);
        try {
            MemorySegment plane = benchmark.kv.plane(0, 0);
            byte[] before = plane.toArray(ValueLayout.JAVA_BYTE);
            benchmark.gather();
            plane.fill((byte) 0);
            benchmark.scatter();
            assertThat(plane.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(before);
        } finally {
            benchmark.close();
        }
    }

    @Test
    void rowsWithChecksumComputeIt() {
        HostCopyBenchmark benchmark = copying(256);
        try {
            CRC32C crc = new CRC32C();
            crc.update(benchmark.onePiece.toArray(ValueLayout.JAVA_BYTE));
            int expected = (int) crc.getValue();
            assertThat(benchmark.gatherCrc()).isEqualTo(expected);
            assertThat(benchmark.scatterCrc()).isEqualTo(expected);
            assertThat(benchmark.crc()).isEqualTo(expected);
        } finally {
            benchmark.close();
        }
    }

    @Test
    void noPieceIsLongerThanABlock() {
        HostCopyBenchmark benchmark = copying(1024);
        try {
            int[] slots = benchmark.slotMapping;
            int[] sorted = slots.clone();
            Arrays.sort(sorted);
            for (int i = 0; i < slots.length; i++) {
                assertThat(sorted[i]).isEqualTo(i);
                if (i > 0) {
                    assertThat(slots[i] == slots[i - 1] + 1).as("token " + i).isEqualTo(i % 16 != 0);
                }
            }
            HostMover.checkSlots(benchmark.kv, slots, 0, slots.length);
        } finally {
            benchmark.close();
        }
    }

    @Test
    void mallocGivesMemory() {
        assumeTrue(LibcNative.missing() == null, () -> String.valueOf(LibcNative.missing()));
        long address = LibcNative.malloc(64);
        assertThat(address).isNotZero();
        MemorySegment.ofAddress(address).reinterpret(64).fill((byte) 7);
        LibcNative.free(address);
    }

    private static ChunkHashBenchmark hashing(int chunkTokens) throws Exception {
        ChunkHashBenchmark benchmark = new ChunkHashBenchmark();
        benchmark.chunkTokens = chunkTokens;
        benchmark.open();
        return benchmark;
    }

    private static HostCopyBenchmark copying(int objectKib) {
        HostCopyBenchmark benchmark = new HostCopyBenchmark();
        benchmark.objectKib = objectKib;
        benchmark.open();
        return benchmark;
    }

    private static void assertObjectIs(byte[] expected, HostCopyBenchmark benchmark) {
        assertThat(benchmark.object.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(expected);
        benchmark.object.fill((byte) 0);
    }
}
