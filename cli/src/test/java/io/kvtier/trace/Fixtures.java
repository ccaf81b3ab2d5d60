package io.kvtier.trace;

import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Objects;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;

/** Trace files for tests: public ones, and such as a test makes up. */
final class Fixtures {
    static final Path SYNTHETIC = resource("mooncake-synthetic/synthetic_trace.jsonl.gz");
    static final Path CLAUDE_CODE = resource("claude-code-blocks/sessions.jsonl.gz");
    static final Path RAGPULSE = resource("ragpulse");

    private Fixtures() {}

    /** What is done with a folder that is gone afterwards. */
    interface WithFolder {
        void run(Path folder) throws IOException;
    }

    static void inFolder(WithFolder body) throws IOException {
        Path folder = Files.createTempDirectory("kvtier-trace");
        try {
            body.run(folder);
        } finally {
            try (Stream<Path> all = Files.walk(folder)) {
                all.sorted(Comparator.reverseOrder()).forEach(Fixtures::delete);
            }
        }
    }

    static byte[] packed(byte[] plain) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (OutputStream gzip = new GZIPOutputStream(bytes)) {
            gzip.write(plain);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    static Path write(Path file, String text, boolean packed) throws IOException {
        byte[] plain = text.getBytes(StandardCharsets.UTF_8);
        return Files.write(file, packed ? packed(plain) : plain);
    }

    /** Returns the message of the error that a trace must have. */
    static String failure(Path file, TraceReader.Options options) {
        TraceFormatException error =
                catchThrowableOfType(TraceFormatException.class, () -> TraceReader.read(file, options));
        return Objects.requireNonNull(error, "there was no error").getMessage();
    }

    private static void delete(Path file) {
        try {
            Files.delete(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Path resource(String name) {
        URL found = Objects.requireNonNull(Fixtures.class.getResource(name), name);
        try {
            return Path.of(found.toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }
}
