package io.kvtier.bindings.nixl;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvtier.bindings.FetchedNatives;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Compiles and runs the program of docs/nixl.md as it stands there. */
@ExtendWith(FetchedNatives.class)
class NixlExampleTest {
    private static final Pattern PROGRAM = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

    @TempDir
    Path folder;

    @Test
    void programInTheDocumentationRuns() throws Exception {
        Matcher matcher = PROGRAM.matcher(Files.readString(Path.of("../docs/nixl.md")));
        assertThat(matcher.find()).isTrue();
        assertThat(matcher.group(1).lines()).hasSizeLessThanOrEqualTo(30);
        Path source = Files.writeString(folder.resolve("FileThroughNixl.java"), matcher.group(1));
        Path file = folder.resolve("written");
        Path log = folder.resolve("log");
        Process java = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        Path.of("target", "classes").toString(),
                        source.toString(),
                        file.toString())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        assertThat(java.waitFor(120, TimeUnit.SECONDS)).isTrue();
        assertThat(Files.readString(log, StandardCharsets.UTF_8)).isEqualTo("equal\n");
        assertThat(java.exitValue()).isZero();
        assertThat(Files.readAllBytes(file)).hasSize(1 << 20).containsOnly(42);
    }
}
