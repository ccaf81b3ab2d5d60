package io.kvtier.jmh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.nixl.Operation;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Both of a pair move all bytes, each time. */
class NixlBenchmarksTest {
    private static final int BYTES = 256 * 1024;
    private static final int PIECE_KIB = 64;

    @AfterEach
    void nothingIsLeft() {
        assertThat(NativeHandles.live()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void bothWriteTheFile(boolean sameRequest) throws Exception {
        NixlPosixBenchmark benchmark = posix(Operation.WRITE, sameRequest);
        try {
            for (int round = 0; round < 2; round++) {
                writes(benchmark, benchmark.ours, (byte) (10 + round));
                writes(benchmark, benchmark.anchor, (byte) (20 + round));
            }
        } finally {
            benchmark.close();
        }
    }

    private static void writes(NixlPosixBenchmark benchmark, Runnable side, byte value) throws Exception {
        benchmark.memory.fill(value);
        side.run();
        assertThat(Files.readAllBytes(benchmark.file)).isEqualTo(filled(value));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void bothReadTheFile(boolean sameRequest) throws Exception {
        NixlPosixBenchmark benchmark = posix(Operation.READ, sameRequest);
        try {
            for (int round = 0; round < 2; round++) {
                reads(benchmark, benchmark.ours, (byte) (30 + round));
                reads(benchmark, benchmark.anchor, (byte) (40 + round));
            }
        } finally {
            benchmark.close();
        }
    }

    private static void reads(NixlPosixBenchmark benchmark, Runnable side, byte value) throws Exception {
        Files.write(benchmark.file, filled(value));
        benchmark.memory.fill((byte) 0);
        side.run();
        assertIs(benchmark.memory, value);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void bothWriteTheOtherAgentsMemory(boolean sameRequest) {
        assumeAvailable(NixlUcxBenchmark.PLUGIN);
        NixlUcxBenchmark benchmark = new NixlUcxBenchmark();
        benchmark.bytes = BYTES;
        benchmark.pieceKib = PIECE_KIB;
        benchmark.sameRequest = sameRequest;
        benchmark.open();
        try {
            for (Runnable side : new Runnable[] {benchmark.ours, benchmark.anchor, benchmark.ours, benchmark.anchor}) {
                benchmark.target.fill((byte) 0);
                side.run();
                assertIs(benchmark.target, (byte) 1);
            }
        } finally {
            benchmark.close();
        }
    }

    @Test
    void aPluginThatIsNotThereIsTheReason() {
        assumeAvailable(NixlPosixBenchmark.PLUGIN);
        assertThat(NixlTransferNative.missing("NOPE")).isEqualTo("this NIXL has no plugin NOPE");
    }

    private static NixlPosixBenchmark posix(Operation operation, boolean sameRequest) throws Exception {
        assumeAvailable(NixlPosixBenchmark.PLUGIN);
        NixlPosixBenchmark benchmark = new NixlPosixBenchmark();
        benchmark.operation = operation;
        benchmark.bytes = BYTES;
        benchmark.pieceKib = PIECE_KIB;
        benchmark.sameRequest = sameRequest;
        benchmark.open();
        return benchmark;
    }

    private static void assumeAvailable(String plugin) {
        String missing = NixlTransferNative.missing(plugin);
        assumeTrue(missing == null, () -> String.valueOf(missing));
    }

    private static byte[] filled(byte value) {
        byte[] bytes = new byte[BYTES];
        Arrays.fill(bytes, value);
        return bytes;
    }

    private static void assertIs(MemorySegment memory, byte value) {
        assertThat(memory.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(filled(value));
    }
}
