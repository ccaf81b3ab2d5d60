package io.kvtier.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Damaged files lead to a trace or to an error that says where, and to nothing else. */
class TraceFuzzPropertyTest {
    private static final byte[] INTERESTING =
            "{}[]\",:-0123456789.eE\\ \n\u0000truefalsn".getBytes(StandardCharsets.UTF_8);

    private static final String MOONCAKE = """
            {"timestamp": 0, "input_length": 1100, "output_length": 500, "hash_ids": [0, 1, 2]}
            {"timestamp": 27.5, "input_length": 900, "output_length": 490, "hash_ids": [0, 18446744073709551615]}
            """;
    private static final String CLAUDE = """
            {"id":"a","block_size":64,"hash_id_scope":"local","requests":[{"t":0.0,"type":"n","in":140,"out":2,\
            "hash_ids":[1,2]},{"t":1,"type":"subagent",\
            "requests":[{"t":0.5,"type":"s","in":64,"out":1,"hash_ids":[3]}]}]}
            {"id":"b","block_size":64,"requests":[{"t":0.0,"type":"n","in":70,"out":2,"hash_ids":[1]}]}
            """;
    private static final String RAG = """
            {"timestamp": "82", "input_length": 3112, "output_length": 192, "hash_ids": {"sys_prompt": [1, 2], \
            "passages_ids": [1], "history": [2], "web_search": [], "user_input": [1]}, "session_id": "1"}
            """;
    private static final List<String> SIDE_FILES = List.of(
            "1_sys_prompt sys_prompt_id",
            "2_passages passage_id",
            "3_history history_id",
            "4_user_input user_input_id",
            "5_web_search web_search_id");

    @Property(tries = 1500)
    void mooncake(@ForAll Random random) throws IOException {
        damageAndRead(Map.of("0_trace.jsonl", MOONCAKE), random);
    }

    @Property(tries = 1500)
    void claudeCode(@ForAll Random random) throws IOException {
        damageAndRead(Map.of("0_trace.jsonl", CLAUDE), random);
    }

    @Property(tries = 1500)
    void ragPulse(@ForAll Random random) throws IOException {
        Map<String, String> files = new TreeMap<>(Map.of("0_trace.jsonl", RAG));
        for (String file : SIDE_FILES) {
            String[] words = file.split(" ");
            String line = "{\"" + words[1] + "\": 1, \"token_length\": 512}\n";
            files.put(words[0] + ".jsonl", line + line.replace(": 1", ": 2"));
        }
        damageAndRead(files, random);
    }

    private static void damageAndRead(Map<String, String> files, Random random) throws IOException {
        List<String> names = List.copyOf(files.keySet());
        String damaged = names.get(random.nextInt(names.size()));
        boolean packed = random.nextBoolean();
        Fixtures.inFolder(folder -> {
            for (var file : files.entrySet()) {
                byte[] bytes = file.getValue().getBytes(StandardCharsets.UTF_8);
                boolean hit = file.getKey().equals(damaged);
                Files.write(folder.resolve(file.getKey()), hit ? damaged(bytes, packed, random) : bytes);
            }
            for (var options : List.of(random.nextBoolean(), random.nextBoolean())) {
                readOrFail(folder, TraceReader.Options.defaults().withSkipBad(options));
            }
        });
    }

    /** Damages a file before it is packed, after it, or both. */
    private static byte[] damaged(byte[] plain, boolean packed, Random random) {
        if (!packed) {
            return damage(plain, random);
        }
        byte[] inside = random.nextBoolean() ? damage(plain, random) : plain;
        byte[] zipped = Fixtures.packed(inside);
        return random.nextBoolean() ? damage(zipped, random) : zipped;
    }

    private static byte[] damage(byte[] bytes, Random random) {
        byte[] result = random.nextInt(3) == 0 ? Arrays.copyOf(bytes, random.nextInt(bytes.length)) : bytes.clone();
        for (int flips = random.nextInt(4); flips > 0 && result.length > 0; flips--) {
            int at = random.nextInt(result.length);
            result[at] = random.nextBoolean()
                    ? (byte) (result[at] ^ 1 << random.nextInt(8))
                    : INTERESTING[random.nextInt(INTERESTING.length)];
        }
        return result;
    }

    private static void readOrFail(Path folder, TraceReader.Options options) throws IOException {
        try {
            Trace trace = TraceReader.read(folder, options);
            assertThat(trace.skippedLines() == 0 || options.skipBad()).isTrue();
            for (int request = 0; request < trace.requests(); request++) {
                int blocks = trace.blocks(request);
                assertThat(trace.hitTokens(request, blocks)).isBetween(0L, trace.inputLength(request));
            }
        } catch (TraceFormatException e) {
            assertThat(e.line()).isBetween(1L, 1000L);
            assertThat(e).hasMessageStartingWith(e.file() + ":" + e.line() + ": ");
            assertThat(e.getMessage()).hasSizeLessThan(1000).doesNotContain("\n");
        }
    }
}
