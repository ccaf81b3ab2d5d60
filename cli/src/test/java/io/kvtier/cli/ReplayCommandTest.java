package io.kvtier.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReplayCommandTest {
    @TempDir
    Path folder;

    @Test
    void endlessCacheFindsWhatTheTracesReadmesSay() {
        CommandRun conversation = endless();
        assertThat(conversation.number("requests")).isEqualTo(12_031);
        assertThat(conversation.number("hit_blocks")).isEqualTo(105_710);
        assertThat(conversation.number("hit_tokens")).isEqualTo(54_098_411);
        CommandRun synthetic = endless(fixture("mooncake-synthetic/synthetic_trace.jsonl.gz"));
        assertThat(synthetic.number("hit_blocks")).isEqualTo(77_953);
        assertThat(synthetic.number("hit_tokens")).isEqualTo(39_852_661);
        CommandRun ragpulse = endless(fixture("ragpulse"));
        assertThat(ragpulse.number("distinct_blocks")).isEqualTo(58_727);
        assertThat(ragpulse.number("hit_blocks")).isEqualTo(12_856);
        assertThat(ragpulse.number("hit_tokens")).isEqualTo(6_574_248);
    }

    @Test
    void endlessCacheFindsWhatTheClaudeCodeReadmeSays() {
        CommandRun sessions = endless(fixture("claude-code-blocks/sessions.jsonl.gz"));
        assertThat(sessions.number("requests")).isEqualTo(3_356);
        assertThat(sessions.number("block_references")).isEqualTo(5_391_912);
        assertThat(sessions.number("hit_blocks")).isEqualTo(5_162_166);
    }

    /** The figures are of a model of two ordered maps in another language, run over the same requests. */
    @ParameterizedTest
    @CsvSource({
        "forward, lru, 3055, 5640, 77264, 66924, 4449483",
        "reverse, lru, 3055, 5881, 77264, 66924, 4572875",
        "forward, fifo, 2823, 5587, 77496, 67175, 4304373",
        "reverse, fifo, 3055, 5413, 77496, 67175, 4334069"
    })
    void countsEqualTwoPlainLists(String touch, String policy, long h1, long h2, long e1, long e2, long tokens) {
        CommandRun run = replay(
                "--limit", "3000", "--l1-blocks", "300", "--l2-blocks", "5000", "--touch", touch, "--policy", policy);
        assertThat(run.number("l1_hit_blocks")).isEqualTo(h1);
        assertThat(run.number("l2_hit_blocks")).isEqualTo(h2);
        assertThat(run.number("l1_evictions")).isEqualTo(e1);
        assertThat(run.number("l2_evictions")).isEqualTo(e2);
        assertThat(run.number("hit_tokens")).isEqualTo(tokens);
        assertThat(run.number("verified_blocks")).isEqualTo(h1 + h2);
        assertThat(run.number("bad_blocks")).isZero();
    }

    @Test
    void inclusiveTiersHitLikeOneListOfTheLargerCapacity() {
        CommandRun two = replay("--l1-blocks", "1000", "--l2-blocks", "8000", "--limit", "1500");
        CommandRun one = replay("--l1-blocks", "8000", "--l2-blocks", "0", "--limit", "1500");
        assertThat(two.number("hit_blocks")).isEqualTo(one.number("hit_blocks"));
        assertThat(two.number("l2_evictions")).isEqualTo(one.number("l1_evictions"));
    }

    @Test
    void asEngineFindsNoWrongByteAndAboutAsMuch() {
        CommandRun plain = replay("--l1-blocks", "2000", "--l2-blocks", "20000", "--limit", "1000");
        CommandRun engine = replay("--l1-blocks", "2000", "--l2-blocks", "20000", "--limit", "1000", "--as-engine");
        assertThat(engine.number("bad_blocks")).isZero();
        assertThat(engine.number("lost_blocks")).isZero();
        assertThat((double) engine.number("hit_blocks"))
                .isBetween(0.95 * plain.number("hit_blocks"), 1.05 * plain.number("hit_blocks"));
    }

    @Test
    void folderOfAnEarlierReplayStartsWarm() {
        String[] options = {"--l2-dir", folder.toString(), "--limit", "200", "--l1-blocks", "10"};
        CommandRun first = replay(options);
        CommandRun second = replay(options);
        assertThat(second.number("warm_blocks")).isEqualTo(first.number("distinct_blocks"));
        assertThat(second.number("hit_blocks")).isEqualTo(second.number("block_references"));
        assertThat(second.number("stored_bytes")).isZero();
        assertThat(second.err()).contains("objects of earlier runs: starting warm");
    }

    @Test
    void otherPayloadSizeInAFolderIsRefusedAndNothingIsLost() throws IOException {
        String l2 = folder.toString();
        replay("--l2-dir", l2, "--limit", "20");
        long files = files();
        CommandRun run =
                CommandRun.of("replay", "--l2-dir", l2, "--l2-blocks", "1", "--payload-bytes", "128", "--limit", "20");
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).contains("64 payload bytes, asked for are 128");
        assertThat(files()).isEqualTo(files);
    }

    @Test
    void damagedBlocksOfAFolderAreMissesAndNotBad() throws IOException {
        String[] options = {"--l2-dir", folder.toString(), "--limit", "50", "--l1-blocks", "10"};
        CommandRun first = replay(options);
        List<Path> records = new ArrayList<>();
        try (Stream<Path> walk = Files.walk(folder.resolve("objects"))) {
            walk.filter(Files::isRegularFile).sorted().forEach(records::add);
        }
        byte[] bytes = Files.readAllBytes(records.getFirst());
        bytes[bytes.length - 1] ^= 1;
        Files.write(records.getFirst(), bytes);
        CommandRun second = replay(options);
        assertThat(second.number("bad_blocks")).isZero();
        assertThat(second.number("lost_blocks")).isEqualTo(1);
        assertThat(second.number("hit_blocks")).isLessThan(first.number("block_references"));
        CommandRun third = replay(options);
        assertThat(third.number("lost_blocks")).isZero();
        assertThat(third.number("hit_blocks")).isEqualTo(third.number("block_references"));
    }

    @Test
    void payloadsOfAnySizeComeBack() {
        for (String bytes : new String[] {"1", "7", "8", "4095", "4097", "70000"}) {
            CommandRun run =
                    CommandRun.of("replay", "--payload-bytes", bytes, "--limit", "30", "--l1-blocks", "40", "--json");
            assertThat(run.number("bad_blocks")).isZero();
            assertThat(run.number("verified_blocks"))
                    .isEqualTo(run.number("hit_blocks"))
                    .isPositive();
        }
    }

    @Test
    void summaryIsReadable() {
        CommandRun run = CommandRun.of("replay", "--limit", "100", "--payload-bytes", "64");
        assertThat(run.exitCode()).isZero();
        assertThat(run.out()).contains("100 requests", "hits", "memory", "disk", "lookup p50", "per resident block");
        assertThat(run.err()).isEmpty();
    }

    private long files() throws IOException {
        try (Stream<Path> walk = Files.walk(folder.resolve("objects"))) {
            return walk.filter(Files::isRegularFile).count();
        }
    }

    private static String fixture(String name) {
        return Path.of("src/test/resources/io/kvtier/trace").resolve(name).toString();
    }

    private static CommandRun endless(String... file) {
        List<String> options = new ArrayList<>(List.of("--l1-blocks", "unlimited", "--l2-blocks", "0"));
        options.addAll(List.of(file));
        CommandRun run = replay(options.toArray(String[]::new));
        assertThat(run.number("bad_blocks")).isZero();
        return run;
    }

    private static CommandRun replay(String... options) {
        List<String> args = new ArrayList<>(List.of("replay", "--payload-bytes", "64", "--json"));
        args.addAll(List.of(options));
        CommandRun run = CommandRun.of(args.toArray(String[]::new));
        assertThat(run.exitCode()).describedAs(run.err()).isZero();
        return run;
    }
}
