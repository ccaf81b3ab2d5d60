package io.kvtier.bindings.posix;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DirectIoTest {
    @TempDir
    Path folder;

    @Test
    void missingFileIsNamedByErrno() {
        assertThat(DirectIo.probe(folder.resolve("missing"), 4096).toString()).contains("ENOENT");
    }

    @Test
    void fileIsReadAndWrittenOrTheReasonGiven() throws IOException {
        Path file = Files.createFile(folder.resolve("file"));
        assertThat(DirectIo.probe(file, 4096).toString()).matches(".*(O_DIRECT|ends with|gives).*");
    }
}
