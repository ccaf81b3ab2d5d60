package io.kvtier.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The facts that are published with the traces, each counted again from what the reader returns. */
class PublicTracesTest {
    private static final TraceReader.Options DEFAULTS = TraceReader.Options.defaults();

    @TempDir
    Path folder;

    @Test
    void mooncakeConversation() throws IOException {
        Trace trace = TraceReader.bundled(DEFAULTS);
        assertThat(trace.format()).isEqualTo("mooncake");
        assertThat(trace.requests()).isEqualTo(12_031);
        assertThat(trace.inputTokens()).isEqualTo(144_793_823);
        assertThat(trace.blockReferences()).isEqualTo(288_500);
        assertThat(trace.distinctBlocks()).isEqualTo(182_790);
        assertThat(EndlessCache.inputQuantiles(trace)).containsExactly(891, 6_909, 27_367, 85_401, 126_195);
        EndlessCache cache = new EndlessCache(trace);
        assertThat(cache.hitBlocks).isEqualTo(105_710);
        assertThat(cache.hitTokens).isEqualTo(54_098_411);
        assertThat(cache.blocksUsedOnce).isEqualTo(138_646);
        assertThat(cache.mostUses).isEqualTo(12_031);
        assertThat(100 * cache.meanHitShare).isCloseTo(40.94, within(0.005));
    }

    @Test
    void mooncakeSynthetic() throws IOException {
        Trace trace = TraceReader.read(Fixtures.SYNTHETIC, DEFAULTS);
        assertThat(trace.format()).isEqualTo("mooncake");
        assertThat(trace.requests()).isEqualTo(3_993);
        assertThat(trace.inputTokens()).isEqualTo(61_194_628);
        assertThat(trace.blockReferences()).isEqualTo(121_877);
        assertThat(trace.distinctBlocks()).isEqualTo(43_924);
        assertThat(EndlessCache.inputQuantiles(trace)).containsExactly(13, 11_587, 38_615, 66_456, 191_378);
        EndlessCache cache = new EndlessCache(trace);
        assertThat(cache.hitBlocks).isEqualTo(77_953);
        assertThat(cache.hitTokens).isEqualTo(39_852_661);
        assertThat(cache.blocksUsedOnce).isEqualTo(25_673);
        assertThat(cache.mostUses).isEqualTo(24);
        assertThat(100 * cache.meanHitShare).isCloseTo(43.15, within(0.005));
    }

    @Test
    void claudeCodeSessions() throws IOException {
        Trace trace = TraceReader.read(Fixtures.CLAUDE_CODE, DEFAULTS);
        assertThat(trace.format()).isEqualTo("claude-code");
        assertThat(trace.requests()).isEqualTo(3_356);
        assertThat(trace.inputTokens()).isEqualTo(345_187_534);
        assertThat(trace.blockReferences()).isEqualTo(5_391_912);
        assertThat(trace.distinctBlocks()).isEqualTo(229_746);
        assertThat(EndlessCache.inputQuantiles(trace)).containsExactly(9_008, 91_964, 151_741, 529_247, 819_909);
        EndlessCache cache = new EndlessCache(trace);
        assertThat(cache.hitBlocks).isEqualTo(5_162_166);
        assertThat(cache.hitTokens).isEqualTo(64L * 5_162_166);
        assertThat(cache.blocksUsedOnce).isEqualTo(12_784);
        assertThat(cache.requestsWithHit).isEqualTo(3_286);
        assertThat(cache.requestsWhollyHit).isZero();
    }

    @Test
    void ragPulse() throws IOException {
        Trace trace = TraceReader.read(Fixtures.RAGPULSE, DEFAULTS);
        assertThat(trace.format()).isEqualTo("ragpulse");
        assertThat(trace.requests()).isEqualTo(7_106);
        assertThat(trace.inputTokens()).isEqualTo(20_917_099);
        assertThat(allPieces(trace)).isEqualTo(20_851_449);
        assertThat(trace.blockReferences()).isEqualTo(71_583);
        assertThat(trace.distinctBlocks()).isEqualTo(58_727);
        assertThat(EndlessCache.inputQuantiles(trace)).containsExactly(1_052, 3_140, 3_959, 5_439, 7_712);
        EndlessCache cache = new EndlessCache(trace);
        assertThat(cache.hitBlocks).isEqualTo(12_856);
        assertThat(cache.hitTokens).isEqualTo(6_574_248);
    }

    private static long allPieces(Trace trace) {
        long sum = 0;
        for (int request = 0; request < trace.requests(); request++) {
            sum += trace.hitTokens(request, trace.blocks(request));
        }
        return sum;
    }

    @Test
    void ragPulseByItsTraceFilePackedOrNot() throws IOException {
        Trace packed = TraceReader.read(Fixtures.RAGPULSE.resolve("0_trace.jsonl.gz"), DEFAULTS);
        unpackAll(Fixtures.RAGPULSE, folder);
        Trace plainFolder = TraceReader.read(folder, DEFAULTS);
        Trace plainFile = TraceReader.read(folder.resolve("0_trace.jsonl"), DEFAULTS);
        TraceModel.assertSame(plainFolder, packed);
        TraceModel.assertSame(plainFile, packed);
    }

    @Test
    void unpackedFilesReadTheSame() throws IOException {
        Path plain = folder.resolve("trace.of-any-name");
        unpack(Fixtures.CLAUDE_CODE, plain);
        TraceModel.assertSame(TraceReader.read(plain, DEFAULTS), TraceReader.read(Fixtures.CLAUDE_CODE, DEFAULTS));
    }

    @Test
    void aCutGzipStreamIsAnErrorOrEndsTheFile() throws IOException {
        byte[] whole = Files.readAllBytes(Fixtures.SYNTHETIC);
        Path cut = Files.write(folder.resolve("cut.jsonl.gz"), Arrays.copyOf(whole, whole.length / 2));
        assertThat(Fixtures.failure(cut, DEFAULTS)).contains("cut.jsonl.gz:", "the gzip stream is cut off");
        Trace rest = TraceReader.read(cut, DEFAULTS.withSkipBad(true));
        assertThat(rest.skippedLines()).isEqualTo(1);
        assertThat(rest.requests()).isBetween(1_000, 3_000);
        TraceModel.assertSameRequests(rest, TraceReader.read(Fixtures.SYNTHETIC, DEFAULTS.withLimit(rest.requests())));
    }

    @Test
    void aLimitedReadIsTheStartOfTheWholeRead() throws IOException {
        Trace whole = TraceReader.read(Fixtures.RAGPULSE, DEFAULTS);
        Trace limited = TraceReader.read(Fixtures.RAGPULSE, DEFAULTS.withLimit(100));
        assertThat(limited.requests()).isEqualTo(100);
        assertThat(limited.distinctBlocks()).isLessThan(whole.distinctBlocks());
        TraceModel.assertStart(limited, whole);
    }

    private static void unpackAll(Path from, Path to) throws IOException {
        try (var files = Files.newDirectoryStream(from, "*.gz")) {
            for (Path file : files) {
                unpack(file, to.resolve(file.getFileName().toString().replace(".gz", "")));
            }
        }
    }

    private static void unpack(Path packed, Path plain) throws IOException {
        try (InputStream in = new GZIPInputStream(Files.newInputStream(packed))) {
            Files.copy(in, plain);
        }
    }
}
