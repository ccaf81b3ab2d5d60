package io.kvtier.jmh;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openjdk.jmh.annotations.Benchmark;
import picocli.CommandLine;

class BenchCommandTest {
    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @Test
    void anUnknownMeasureIsWrongUseAndNamesTheKnown() {
        assertThat(run("--quick", "page-pool", "nope")).isEqualTo(2);
        assertThat(err.toString())
                .contains("'nope'")
                .contains("page-pool, host-copy, chunk-hash, ffm-call, nixl-posix, nixl-ucx");
    }

    @Test
    void aFileThatCannotBeWrittenIsFoundBeforeTheRun(@TempDir Path folder) {
        assertThat(run("--json", folder.resolve("absent/rows.json").toString())).isEqualTo(2);
        assertThat(run("--json", folder.toString())).isEqualTo(2);
    }

    @Test
    void helpNamesEveryMeasureOptionAndExitCode() {
        assertThat(run("--help")).isZero();
        assertThat(out.toString())
                .contains(Measure.names())
                .contains("--quick", "--json", "--help")
                .containsPattern("0 +done")
                .containsPattern("1 +failed")
                .containsPattern("2 +wrong use")
                .containsPattern("3 +something");
    }

    @Test
    void measuresNameJustTheBenchmarksThatExist() {
        for (Measure measure : Measure.ALL) {
            Set<String> existing = Stream.of(measure.benchmark().getDeclaredMethods())
                    .filter(method -> method.isAnnotationPresent(Benchmark.class))
                    .map(Method::getName)
                    .collect(Collectors.toSet());
            assertThat(existing).as(measure.name()).containsAll(measure.methods());
            if (LibcNative.missing() == null
                    && OpenSslNative.missing() == null
                    && measure.missing().get() == null) {
                assertThat(measure.methods()).containsAll(existing);
            }
        }
    }

    private int run(String... args) {
        CommandLine command = BenchCommand.commandLine();
        command.setOut(new PrintWriter(out, true));
        command.setErr(new PrintWriter(err, true));
        return command.execute(args);
    }
}
