package io.kvtier.jmh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class CLibraryTest {
    @Test
    void whatGccRefusesIsMissingAndSaysWhy() {
        assumeTrue(FfmCallNative.missing() == null, () -> String.valueOf(FfmCallNative.missing()));
        CLibrary library = CLibrary.compile(List.of("ffm_call.c"), "no-such-library.so");
        assertThat(library.missing()).contains("ffm_call.c").contains("no-such-library.so");
        assertThatExceptionOfType(UnsatisfiedLinkError.class).isThrownBy(library::symbols);
    }

    @Test
    void aSourceThatIsNotPackagedIsMissing() {
        assertThat(CLibrary.compile(List.of("absent.c")).missing()).contains("absent.c is not packaged");
    }

    @Test
    void eachWayToCallGivesTheSameSum() {
        assumeTrue(FfmCallNative.missing() == null, () -> String.valueOf(FfmCallNative.missing()));
        FfmCallBenchmark benchmark = new FfmCallBenchmark();
        long sum = 0;
        for (int i = 0; i < FfmCallBenchmark.CALLS; i++) {
            sum += i + 2 + 3 + 4 + 5;
        }
        assertThat(benchmark.five()).isEqualTo(sum);
        assertThat(benchmark.fiveCritical()).isEqualTo(sum);
        assertThat(benchmark.fiveGenerated()).isEqualTo(sum);
        assertThat(benchmark.fiveInC()).isEqualTo(sum);
        assertThat(benchmark.nothingInC()).isEqualTo(FfmCallBenchmark.CALLS);
        benchmark.nothing();
        benchmark.nothingCritical();
        benchmark.nothingErrno();
    }
}
