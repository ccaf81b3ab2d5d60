package io.kvtier.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each kind of mistake in a file, and what its error says. */
class TraceErrorsTest {
    private static final TraceReader.Options DEFAULTS = TraceReader.Options.defaults();
    private static final String GOOD =
            "{\"timestamp\": 0, \"input_length\": 9, \"output_length\": 1, \"hash_ids\": [1]}\n\n";
    private static final String SESSION =
            "{'id': 'a', 'block_size': 64, 'requests': [{'t': 0, 'type': 'n', 'in': 64, 'out': 1, 'hash_ids': [1]}]}\n";
    private static final String PROMPT = """
            {'timestamp': '5', 'input_length': 9, 'output_length': 1, 'hash_ids': {'sys_prompt': [1], \
            'passages_ids': [1], 'history': [], 'web_search': [], 'user_input': [1]}}
            """;

    @TempDir
    Path folder;

    private String failureOf(String text) throws IOException {
        Path file = Fixtures.write(folder.resolve("trace.jsonl"), text, false);
        return Fixtures.failure(file, DEFAULTS);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "'timestamp': 0      | 'timestamp': 'x'    | 'timestamp' must be a number, not the text 'x'",
                "'timestamp': 0      | 'timestamp': true   | 'timestamp' must be a number, not true",
                "'timestamp': 0      | 'timestamp': -1     | must be a time from 0 to 2^53, not the number -1",
                "'timestamp': 0      | 'timestamp': 1e300  | must be a time from 0 to 2^53, not the number 1e300",
                "'timestamp': 0      | 'timestamp': 1e999  | must be a time from 0 to 2^53, not the number 1e999",
                "'timestamp': 0      | 'timestamp': NaN    | not JSON",
                "'timestamp': 0      | 'time': 0           | the field 'timestamp' is missing",
                "'input_length': 9   | 'input_length': -9  | a number from 0 to 2147483647, not the number -9 (column",
                "'input_length': 9   | 'input_length': 2147483648 | not the number 2147483648",
                "'input_length': 9   | 'input_length': 9e3 | must be a whole number, not the number 9e3",
                "'input_length': 9   | 'input_length': '9' | must be a whole number, not the text '9'",
                "'input_length': 9   | 'input_length': null | must be a whole number, not null",
                "'input_length': 9   | 'inputs': 9         | the field 'input_length' is missing",
                "'input_length': 9   | 'input_length': 9, 'input_length': 9 | Duplicate",
                "'output_length': 1  | 'output_length': 99999999999999999999 | not the number 99999999999999999999",
                "'output_length': 1  | 'outputs': 1        | the field 'output_length' is missing",
                "'hash_ids': [1]     | 'hash_ids': [1, -2] | made of ids from 0 to 2^64 - 1, not the number -2",
                "'hash_ids': [1]     | 'hash_ids': [18446744073709551616] | not the number 18446744073709551616",
                "'hash_ids': [1]     | 'hash_ids': [-9999999999999999999] | not the number -9999999999999999999",
                "'hash_ids': [1]     | 'hash_ids': [1.0]   | must be a whole number, not the number 1.0",
                "'hash_ids': [1]     | 'hash_ids': [[1]]   | must be a whole number, not an array",
                "'hash_ids': [1]     | 'hash_ids': {}      | must be an array, not an object",
                "'hash_ids': [1]     | 'ids': [1]          | the field 'hash_ids' is missing",
                "'hash_ids': [1]}    | 'hash_ids': [1]     | the line is cut off in the middle of its JSON",
                "'hash_ids': [1]}    | 'hash_ids': [1]} {} | the line goes on after its JSON object, with an object",
                "'hash_ids': [1]}    | 'hash_ids': [1]} x  | not JSON",
            })
    void mooncakeLines(String part, String instead, String reason) throws IOException {
        String line = GOOD.strip().replace(json(part), json(instead));
        assertThat(line).isNotEqualTo(GOOD.strip());
        assertThat(failureOf(GOOD + line)).contains("trace.jsonl:3: ").contains(json(reason));
        Path file = folder.resolve("trace.jsonl");
        Trace rest = TraceReader.read(file, DEFAULTS.withSkipBad(true));
        assertThat(rest.requests()).isEqualTo(1);
        assertThat(rest.skippedLines()).isEqualTo(1);
    }

    private static String json(String text) {
        return text.replace('\'', '"');
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "'id': 'a', | | the field 'id' is missing",
                "'id': 'a' | 'id': 5 | 'id' must be a text, not the number 5",
                "'block_size': 64, | | the field 'block_size' is missing",
                "'block_size': 64 | 'block_size': 0 | 'block_size' must be at least 1, not the number 0",
                "'block_size': 64 | 'block_size': -64 | not the number -64",
                "'id': 'a' | 'id': 'a', 'hash_id_scope': 'global' | must be 'local', not the text 'global'",
                "'block_size': 64 | 'block_size': 32 | session 'a' has a 'block_size' of 32, but 64 on an earlier line",
                "'requests': [ | 'requests': [7, | 'requests' must be an object, not the number 7",
                "'type': 'n', | | the field 'type' is missing",
                "'type': 'n' | 'type': 'subagent' | the field 'requests' is missing",
                "'type': 'n' | 'type': 'subagent', 'requests': [] | a sub-agent has 'hash_ids' of its own",
                "'type': 'n' | 'type': 'n', 'requests': [] | an entry of type 'n' has 'requests' of its own",
                "'t': 0, | | the field 't' is missing",
                "'t': 0 | 't': -0.5 | must be a time from 0 to 2^53, not the number -0.5",
                "'in': 64, | | the field 'in' is missing",
                "'in': 64 | 'in': 0 | request 1 of the session has 1 'hash_ids', but 'in' of 0 holds 0 blocks",
                "'out': 1, | | the field 'out' is missing",
                "[1] | [1, 2] | request 1 of the session has 2 'hash_ids', but 'in' of 64 holds 1 blocks",
                "'hash_ids' | 'ids' | the field 'hash_ids' is missing",
                "}]} | }] | the line is cut off in the middle of its JSON",
            })
    void claudeCodeLines(String part, String instead, String reason) throws IOException {
        String line = SESSION.replace(part, instead == null ? "" : instead);
        assertThat(line).isNotEqualTo(SESSION);
        assertThat(failureOf(json(SESSION + line))).contains("trace.jsonl:2: ").contains(json(reason));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "'timestamp': '5' | 'timestamp': 'soon' | a number, in quotes or not, not the text 'soon'",
                "'timestamp': '5' | 'timestamp': '-5' | must be a time from 0 to 2^53, not the text '-5'",
                "'timestamp': '5' | 'timestamp': '1e99' | must be a time from 0 to 2^53, not the text '1e99'",
                "'timestamp': '5' | 'timestamp': [] | 'timestamp' must be a number, not an array",
                "'timestamp' | 'time' | the field 'timestamp' is missing",
                "'input_length' | 'x' | the field 'input_length' is missing",
                "'output_length' | 'x' | the field 'output_length' is missing",
                "'hash_ids' | 'x' | the field 'hash_ids' is missing",
                "'history': [], | | the field 'history' is missing",
                "'history' | 'geography' | 'hash_ids' has the unknown kind 'geography'",
                "'passages_ids': [1] | 'passages_ids': [1, 33] | the piece 33, which has no length in 2_passages.jsonl",
                "'passages_ids': [1] | 'passages_ids': 1 | 'passages_ids' must be an array, not the number 1",
            })
    void ragPulseLines(String part, String instead, String reason) throws IOException {
        writeSideFiles();
        String line = PROMPT.replace(part, instead == null ? "" : instead);
        assertThat(line).isNotEqualTo(PROMPT);
        assertThat(failureOf(json(PROMPT + line))).contains("trace.jsonl:2: ").contains(json(reason));
    }

    private void writeSideFiles() throws IOException {
        for (PieceKind kind : PieceKind.values()) {
            String line = "{\"" + kind.idField + "\": 1, \"token_length\": 2}\n";
            Fixtures.write(folder.resolve(kind.fileName), line + line + "\n", false);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{'passage_id': 7} | the field 'token_length' is missing",
                "{'token_length': 7} | the field 'passage_id' is missing",
                "{'passage_id': 7, 'token_length': -1} | a number from 0 to 2147483647, not the number -1",
                "{'passage_id': -7, 'token_length': 1} | made of ids from 0 to 2^64 - 1, not the number -7",
                "{'passage_id': 1, 'token_length': 9} | piece 1 has a 'token_length' of 9, but 2 on an earlier line",
                "{'passage_id': 1, | the line is cut off in the middle of its JSON",
            })
    void ragPulseSideFiles(String line, String reason) throws IOException {
        writeSideFiles();
        Path passages = folder.resolve("2_passages.jsonl");
        Files.writeString(passages, Files.readString(passages) + json(line));
        assertThat(failureOf(json(PROMPT))).contains("2_passages.jsonl:4: ").contains(json(reason));
    }

    @Test
    void aMissingSideFile() throws IOException {
        writeSideFiles();
        Files.delete(folder.resolve("5_web_search.jsonl"));
        assertThat(failureOf(json(PROMPT)))
                .contains("trace.jsonl:1: the side file 5_web_search.jsonl or 5_web_search.jsonl.gz is not");
    }

    @Test
    void aFolderWithoutATrace() {
        assertThat(Fixtures.failure(folder, DEFAULTS))
                .startsWith(folder + ":1: the folder holds neither 0_trace.jsonl nor 0_trace.jsonl.gz");
    }

    @Test
    void noFile() {
        assertThatThrownBy(() -> TraceReader.read(folder.resolve("none"), DEFAULTS))
                .isInstanceOf(NoSuchFileException.class);
    }

    @ParameterizedTest
    @CsvSource({"``", "` `", "`\n\n\r\n`", "`\uFEFF`", "`\uFEFF\n`"})
    void emptyFiles(String text) throws IOException {
        String content = text.replace("`", "");
        assertThat(failureOf(content)).contains("the file is empty");
        Path packed = Fixtures.write(folder.resolve("empty.gz"), content, true);
        assertThat(Fixtures.failure(packed, DEFAULTS.withSkipBad(true))).contains("the file is empty");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "hello | not JSON: Unrecognized token 'hello'",
                "[1, 2] | the line must be a JSON object, not an array",
                "{'a': 1, 'b': [2]} | unknown format: found an object with the fields [a, b]; known are Mooncake",
                "{'passage_id': 1, 'token_length': 2} | found an object with the fields [passage_id, token_length]",
                "{} | found an object with the fields []; known are Mooncake",
                "{'timestamp': 0, | the line is cut off in the middle of its JSON; known are Mooncake",
            })
    void unknownFormats(String text, String reason) throws IOException {
        String content = text.contains("{") ? json(text) : text;
        String shown = text.contains("{") ? json(reason) : reason;
        assertThat(failureOf("\n" + content + "\nmore"))
                .contains("trace.jsonl:2: ")
                .contains(shown);
        Path file = folder.resolve("trace.jsonl");
        assertThat(Fixtures.failure(file, DEFAULTS.withSkipBad(true)))
                .contains(":2: ")
                .contains(shown);
    }

    @Test
    void longTextIsShortenedInMessages() throws IOException {
        String bad = GOOD.replace("\"timestamp\": 0", "\"timestamp\": \"" + "\\u0007y".repeat(5000) + "\"");
        assertThat(failureOf(bad))
                .contains("?y?y")
                .contains("... (10000 characters)")
                .hasSizeLessThan(500);
    }

    @Test
    void badLinesBeforeTheFirstGoodOneAreSkippedToo() throws IOException {
        Path file = Fixtures.write(folder.resolve("trace"), "garbage\n{\"a\": 1}\n" + GOOD, true);
        Trace trace = TraceReader.read(file, DEFAULTS.withSkipBad(true));
        assertThat(trace.skippedLines()).isEqualTo(2);
        assertThat(trace.requests()).isEqualTo(1);
    }

    @Test
    void mooncakeIsReadNoFurtherThanTheLimit() throws IOException {
        Path file = Fixtures.write(folder.resolve("trace"), GOOD + GOOD + "garbage", false);
        assertThat(TraceReader.read(file, DEFAULTS.withLimit(2)).requests()).isEqualTo(2);
        assertThat(TraceReader.read(file, DEFAULTS.withLimit(0)).requests()).isZero();
        assertThat(Fixtures.failure(file, DEFAULTS.withLimit(3))).contains(":5: ");
    }

    @Test
    void optionsOutOfRange() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DEFAULTS.withBlockTokens(0))
                .withMessageContaining("not 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DEFAULTS.withLimit(-1))
                .withMessageContaining("not -1");
        assertThat(DEFAULTS).isEqualTo(new TraceReader.Options(512, Long.MAX_VALUE, false));
    }

    @Test
    void namesOfTheErrorsFileAndLine() throws IOException {
        Path file = Fixtures.write(folder.resolve("trace.jsonl"), "x", false);
        assertThatThrownBy(() -> TraceReader.read(file, DEFAULTS))
                .isInstanceOfSatisfying(TraceFormatException.class, e -> {
                    assertThat(e.file()).isEqualTo(file.toString());
                    assertThat(e.line()).isEqualTo(1);
                });
    }
}
