package io.kvtier.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BadInputTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "frobnicate | Unmatched argument",
                "replay --frobnicate | Unknown option: '--frobnicate'",
                "replay --l1-blocks none | 'none' is neither a number of blocks nor 'unlimited'",
                "replay --l1-blocks 0 | --l1-blocks must be at least 1, or 'unlimited', got 0",
                "replay --l2-blocks -1 | '-1' is neither a number of blocks nor 'unlimited'",
                "replay --policy clock | expected one of [LRU, FIFO] (case-insensitive) but was 'clock'",
                "replay --touch sideways | expected one of [FORWARD, REVERSE] (case-insensitive) but was 'sideways'",
                "replay --payload-bytes 0 | --payload-bytes must be at least 1, got 0",
                "replay --block-tokens 0 | --block-tokens must be at least 1, got 0",
                "replay --limit -3 | --limit must be at least 0, got -3",
                "replay /no/such/trace | /no/such/trace: there is no such file",
                "generate --steps 0 --no-cache | --steps must be from 1 to 471",
                "generate --steps 472 --no-cache | --steps must be from 1 to 471",
                "generate --steps many | 'many' is not an int",
                "generate --chunk-tokens 0 | --chunk-tokens must be from 1 to 512, got 0",
                "generate --model /no/such/model | /no/such/model: there is no such file"
            })
    void wrongUseIsNamedAndExits2(String arguments, String message) {
        CommandRun run = CommandRun.of(arguments.split(" "));
        assertThat(run.err()).contains(message);
        assertThat(run.exitCode()).isEqualTo(2);
    }

    @Test
    void badTraceLineIsNamedWithFileLineAndReason() throws IOException {
        Path trace = folder.resolve("trace.jsonl");
        String good = "{\"timestamp\":0,\"input_length\":600,\"output_length\":1,\"hash_ids\":[1,2]}\n";
        Files.writeString(trace, good + "{\"timestamp\":0,\"input_length\":-5,\"output_length\":1,\"hash_ids\":[1]}\n");
        CommandRun run = CommandRun.of("replay", trace.toString());
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).contains(trace + ":2:").contains("-5");
        CommandRun skipping = CommandRun.of("replay", trace.toString(), "--skip-bad", "--json");
        assertThat(skipping.exitCode()).isZero();
        assertThat(skipping.number("skipped_lines")).isEqualTo(1);
        assertThat(skipping.number("requests")).isEqualTo(1);
    }

    @Test
    void modelOfTheWrongSizeIsRefusedWithTheExpectedSize() throws IOException {
        Path model = folder.resolve("model.bin");
        Path bundled = Path.of("src/main/resources/io/kvtier/llama/stories260K.bin");
        byte[] bytes = Files.readAllBytes(bundled);
        Files.write(model, java.util.Arrays.copyOf(bytes, bytes.length - 4));
        CommandRun run = CommandRun.of("generate", "--model", model.toString());
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).contains(model.toString(), "1056540", "1056536");
    }

    @Test
    void cacheFolderThatIsAFileIsRefused() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "not a folder");
        CommandRun run = CommandRun.of("generate", "--cache-dir", file.toString());
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).contains("is a file");
        assertThat(file).hasContent("not a folder");
    }

    @Test
    void cacheFolderInUseNamesTheHolder() throws IOException {
        Path lock = Files.writeString(folder.resolve("kvtier-lock"), "pid 4711 on elsewhere\n");
        try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.WRITE);
                FileLock held = channel.lock()) {
            assertThat(held.isValid()).isTrue();
            CommandRun run = CommandRun.of("generate", "--cache-dir", folder.toString());
            assertThat(run.exitCode()).isEqualTo(1);
            assertThat(run.err()).contains("in use by pid 4711 on elsewhere");
        }
    }

    @Test
    void cacheFolderOfANewerFormatIsRefusedBeforeAnythingIsWritten() throws IOException {
        Files.writeString(folder.resolve("kvtier-format"), "kvtier file tier, format 2\n");
        CommandRun run = CommandRun.of("generate", "--cache-dir", folder.toString());
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).contains("format 2", "reads up to 1");
        assertThat(folder.toFile().list()).containsExactly("kvtier-format");
    }

    @Test
    void emptyFolderNameIsNotTheCurrentFolder() {
        for (String[] args : new String[][] {{"generate", "--cache-dir", ""}, {"replay", "--l2-dir", ""}}) {
            CommandRun run = CommandRun.of(args);
            assertThat(run.exitCode()).isEqualTo(2);
            assertThat(run.err()).contains(args[1], "folder");
        }
    }

    @Test
    void memoryThatIsNotThereIsWrongUse() {
        CommandRun run = CommandRun.of("replay", "--payload-bytes", "2147483647", "--l2-blocks", "0");
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).contains("lower --l1-blocks or --payload-bytes");
    }

    @Test
    void helpNamesExitCodes() {
        for (String command : new String[] {"replay", "generate"}) {
            CommandRun run = CommandRun.of(command, "--help");
            assertThat(run.exitCode()).isZero();
            assertThat(run.out()).contains("Exit codes:", "2   wrong use or wrong input", "3   something that is");
        }
    }
}
