package io.kvtier.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

class RagPulsePropertyTest {
    /** Order of the kinds in a prompt. */
    private static final List<String> KINDS =
            List.of("sys_prompt", "passages_ids", "history", "web_search", "user_input");

    private static final List<String> SIDE_FILES =
            List.of("1_sys_prompt", "2_passages", "3_history", "5_web_search", "4_user_input");
    private static final List<String> ID_FIELDS =
            List.of("sys_prompt_id", "passage_id", "history_id", "web_search_id", "user_input_id");
    private static final int MOST_ID = 4;
    private static final String BAD_LINE = """
            {"timestamp": "1", "input_length": 9, "output_length": 1, "hash_ids": {"sys_prompt": [99], \
            "passages_ids": [], "history": [], "web_search": [], "user_input": []}}
            """;

    /** A request: its time and the ids of each kind. */
    record Prompt(String time, int input, List<List<Integer>> ids, boolean backwards) {
        String json() {
            List<String> fields = new ArrayList<>();
            for (int kind = 0; kind < KINDS.size(); kind++) {
                fields.add(backwards ? 0 : kind, "\"%s\": %s".formatted(KINDS.get(kind), ids.get(kind)));
            }
            return "{\"timestamp\": %s, \"input_length\": %d, \"output_length\": 1, \"hash_ids\": {%s}, \"id\": 1}\n"
                    .formatted(time, input, String.join(", ", fields));
        }

        double seconds() {
            return Double.parseDouble(time.replace("\"", ""));
        }
    }

    @Property(tries = 200)
    void readsWhatTheModelReads(
            @ForAll("prompts") List<Prompt> prompts, @ForAll boolean packed, @ForAll @IntRange(max = 20) int limit)
            throws IOException {
        List<TraceModel.Request> expected = prompts.stream()
                .sorted(Comparator.comparingDouble(Prompt::seconds))
                .map(RagPulsePropertyTest::request)
                .toList();
        String text = prompts.stream().map(Prompt::json).collect(Collectors.joining());
        Fixtures.inFolder(folder -> {
            writeSideFiles(folder, packed);
            Fixtures.write(folder.resolve(packed ? "0_trace.jsonl.gz" : "0_trace.jsonl"), text + BAD_LINE, packed);
            var options = TraceReader.Options.defaults().withSkipBad(true);
            Trace all = TraceReader.read(folder, options);
            TraceModel.assertTrace(all, expected, Long.MAX_VALUE);
            assertThat(all.format()).isEqualTo("ragpulse");
            assertThat(all.skippedLines()).isEqualTo(2);
            Trace limited = TraceReader.read(folder, options.withLimit(limit));
            TraceModel.assertTrace(limited, expected, limit);
            TraceModel.assertStart(limited, all);
        });
    }

    private static int length(int kind, int id) {
        return 10 * kind + id;
    }

    private static TraceModel.Request request(Prompt prompt) {
        List<String> blocks = new ArrayList<>();
        List<Integer> tokens = new ArrayList<>();
        String chain = "";
        for (int kind = 0; kind < KINDS.size(); kind++) {
            for (int id : prompt.ids.get(kind)) {
                chain += " " + kind + ":" + id;
                blocks.add(chain);
                tokens.add(length(kind, id));
            }
        }
        return new TraceModel.Request(prompt.input, blocks, tokens);
    }

    private static void writeSideFiles(Path folder, boolean packed) throws IOException {
        for (int kind = 0; kind < KINDS.size(); kind++) {
            StringBuilder text = new StringBuilder(kind == 0 ? "bad\n" : "");
            for (int id = 0; id <= MOST_ID; id++) {
                text.append(
                        "{\"%s\": %d, \"token_length\": %d}\n".formatted(ID_FIELDS.get(kind), id, length(kind, id)));
            }
            String name = SIDE_FILES.get(kind) + (packed ? ".jsonl.gz" : ".jsonl");
            Fixtures.write(folder.resolve(name), text + "\n", packed);
        }
    }

    @Provide
    Arbitrary<List<Prompt>> prompts() {
        Arbitrary<List<Integer>> ids =
                Arbitraries.integers().between(0, MOST_ID).list().ofMaxSize(3);
        return Combinators.combine(
                        Arbitraries.of("\"9\"", "\"10\"", "\"10.5\"", "10", "\"1e1\"", "\"0\"", "0.25", "\"604603\""),
                        Arbitraries.integers().between(0, 300),
                        ids.list().ofSize(KINDS.size()),
                        Arbitraries.of(true, false))
                .as(Prompt::new)
                .list()
                .ofMinSize(1)
                .ofMaxSize(25);
    }
}
