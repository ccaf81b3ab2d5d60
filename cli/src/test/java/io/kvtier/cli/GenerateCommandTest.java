package io.kvtier.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GenerateCommandTest {
    private static final String LILY = "Once upon a time, there was a little girl named Lily. She loved to play outside"
            + " in the park with her red ball and her dog.";

    @TempDir
    Path folder;

    @Test
    void secondRunRestoresAllFullChunksAndSaysTheSame() {
        CommandRun without = generate("--no-cache");
        CommandRun first = generate("--cache-dir", folder.toString());
        CommandRun second = generate("--cache-dir", folder.toString());
        assertThat(first.number("restored_tokens")).isZero();
        assertThat(second.number("prompt_tokens")).isEqualTo(42);
        assertThat(second.number("restored_tokens")).isEqualTo(32);
        assertThat(second.number("restored_l2_tokens")).isEqualTo(32);
        assertThat(second.number("computed_tokens")).isEqualTo(10);
        assertThat(first.json().get("tokens")).isEqualTo(without.json().get("tokens"));
        assertThat(second.json().get("tokens")).isEqualTo(without.json().get("tokens"));
        assertThat(second.json().get("text")).isEqualTo(without.json().get("text"));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 7, 16, 41, 42, 43, 512})
    void anyChunkSizeGivesTheSameTokens(int chunkTokens) {
        String[] options = {"--cache-dir", folder.toString(), "--chunk-tokens", Integer.toString(chunkTokens)};
        Object expected = generate("--no-cache").json().get("tokens");
        assertThat(generate(options).json().get("tokens")).isEqualTo(expected);
        CommandRun second = generate(options);
        assertThat(second.json().get("tokens")).isEqualTo(expected);
        long full = 42 / chunkTokens * chunkTokens;
        assertThat(second.number("restored_tokens")).isEqualTo(Math.min(full, 41));
        assertThat(second.number("computed_tokens")).isGreaterThanOrEqualTo(1);
    }

    @Test
    void storyGoesOnFromItsOwnText() {
        CommandRun story =
                CommandRun.of("generate", "--prompt", "", "--steps", "256", "--cache-dir", folder.toString(), "--json");
        String text = (String) story.json().get("text");
        CommandRun restored = CommandRun.of(
                "generate", "--prompt", text, "--steps", "100", "--cache-dir", folder.toString(), "--json");
        CommandRun computed = CommandRun.of("generate", "--prompt", text, "--steps", "100", "--no-cache", "--json");
        assertThat(restored.number("restored_tokens")).isEqualTo(256);
        assertThat(restored.json().get("tokens")).isEqualTo(computed.json().get("tokens"));
    }

    @Test
    void anotherModelNameRestoresNothing() {
        Object expected = generate("--cache-dir", folder.toString()).json().get("tokens");
        CommandRun other = generate("--cache-dir", folder.toString(), "--model-name", "other");
        assertThat(other.number("restored_tokens")).isZero();
        assertThat(other.json().get("tokens")).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 20, 100, 170, 4095, 4096, 9000, 24575})
    void oneFlippedByteChangesNothingButTheHits(int position) throws IOException {
        Object expected = generate("--cache-dir", folder.toString()).json().get("tokens");
        for (Path file : records()) {
            byte[] bytes = Files.readAllBytes(file);
            bytes[position] ^= 0x40;
            Files.write(file, bytes);
        }
        CommandRun damaged = generate("--cache-dir", folder.toString());
        assertThat(damaged.json().get("tokens")).isEqualTo(expected);
        assertThat(damaged.number("restored_tokens")).isZero();
        assertThat(folder.resolve("quarantine")).isNotEmptyDirectory();
    }

    @Test
    void plainOutputEndsWithTheFigures() {
        CommandRun run = CommandRun.of("generate", "--steps", "5", "--cache-dir", folder.toString());
        assertThat(run.exitCode()).isZero();
        assertThat(run.out())
                .startsWith(LILY)
                .contains("prompt tokens    42", "restored tokens  0 (memory 0, disk 0)", "first token");
    }

    @Test
    void killedRunLosesAtMostTheLastChunk() throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), KvtierCommand.class.getName()));
        command.addAll(List.of("generate", "--prompt", LILY, "--steps", "400", "--cache-dir", folder.toString()));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        // By then all of the prompt's full chunks have been stored.
        byte[] seen = process.getInputStream().readNBytes(LILY.length() + 40);
        process.destroyForcibly().waitFor();
        assertThat(seen).hasSize(LILY.length() + 40);
        CommandRun after = generate("--cache-dir", folder.toString());
        assertThat(after.number("restored_tokens")).isEqualTo(32);
        assertThat(after.json().get("tokens"))
                .isEqualTo(generate("--no-cache").json().get("tokens"));
    }

    private List<Path> records() throws IOException {
        try (Stream<Path> files = Files.walk(folder.resolve("objects"))) {
            return files.filter(Files::isRegularFile)
                    .sorted(Comparator.naturalOrder())
                    .toList();
        }
    }

    private static CommandRun generate(String... options) {
        List<String> args = new ArrayList<>(List.of("generate", "--prompt", LILY, "--json"));
        args.addAll(List.of(options));
        CommandRun run = CommandRun.of(args.toArray(String[]::new));
        assertThat(run.exitCode()).describedAs(run.err()).isZero();
        return run;
    }
}
