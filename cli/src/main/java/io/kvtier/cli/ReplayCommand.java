package io.kvtier.cli;

import io.kvtier.policy.EvictionPolicy;
import io.kvtier.trace.Replay;
import io.kvtier.trace.ReplayResult;
import io.kvtier.trace.ReplaySettings;
import io.kvtier.trace.ReplaySettings.TouchOrder;
import io.kvtier.trace.Trace;
import io.kvtier.trace.TraceReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.core.JsonGenerator;

/** Replays a public prefix trace against real memory and disk tiers. */
@Command(
        name = "replay",
        description = {
            "Replays a prefix trace against real memory and disk tiers.",
            "Each block of the trace is really stored and, when a request finds it again, really read back and compared."
        },
        mixinStandardHelpOptions = true,
        sortOptions = false,
        footer = {
            "",
            "Formats, found by content, plain or gzipped: Mooncake JSONL (lines with timestamp, input_length,"
                    + " output_length, hash_ids), Claude-Code sessions, a RAGPulse folder.",
            "Ids mean the same content in every file that is replayed into one --l2-dir."
        },
        exitCodeListHeading = ExitCodes.HEADING,
        exitCodeList = {
            ExitCodes.DONE_TEXT,
            "1:failed, or a block came back with wrong bytes, or the disk tier failed",
            ExitCodes.WRONG_INPUT_TEXT,
            ExitCodes.MISSING_TEXT
        })
final class ReplayCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Parameters(
            arity = "0..1",
            paramLabel = "FILE",
            description =
                    "Trace file, or the folder of a RAGPulse trace; the bundled Mooncake conversation trace if left"
                            + " out.")
    private @Nullable Path file;

    @Option(
            names = "--l1-blocks",
            paramLabel = "N|unlimited",
            defaultValue = "10000",
            converter = BlockCount.class,
            description = "Capacity of memory in blocks (default: ${DEFAULT-VALUE}).")
    private long l1Blocks;

    @Option(
            names = "--l2-blocks",
            paramLabel = "N|unlimited",
            defaultValue = "100000",
            converter = BlockCount.class,
            description = "Capacity of the disk tier in blocks; 0 for no such tier (default: ${DEFAULT-VALUE}).")
    private long l2Blocks;

    @Option(
            names = "--block-tokens",
            paramLabel = "N",
            defaultValue = "512",
            description = "Tokens of a block in Mooncake lines, which do not say so (default: ${DEFAULT-VALUE}).")
    private int blockTokens;

    @Option(names = "--limit", paramLabel = "N", description = "Replay only the first N requests.")
    private long limit = Long.MAX_VALUE;

    @Option(
            names = "--l2-dir",
            paramLabel = "DIR",
            description = "Folder of the disk tier; what an earlier replay left there is found again (default: a"
                    + " temporary folder, removed at the end).")
    private @Nullable Path l2Dir;

    @Option(
            names = "--policy",
            paramLabel = "lru|fifo",
            defaultValue = "lru",
            description = "Which block goes first, in both tiers (default: ${DEFAULT-VALUE}).")
    private EvictionPolicy.Kind policy = EvictionPolicy.Kind.LRU;

    @Option(
            names = "--touch",
            paramLabel = "forward|reverse",
            defaultValue = "forward",
            description = "Order in which a request uses its blocks (default: ${DEFAULT-VALUE}).")
    private TouchOrder touch = TouchOrder.FORWARD;

    @Option(
            names = "--payload-bytes",
            paramLabel = "N",
            defaultValue = "4096",
            description = "Bytes stored per block (default: ${DEFAULT-VALUE}).")
    private int payloadBytes;

    @Option(
            names = "--as-engine",
            description = "Look up, retrieve under leases and store what was missing, as an engine does; may count a"
                    + " little differently.")
    private boolean asEngine;

    @Option(names = "--skip-bad", description = "Leave out bad lines of the trace and count them.")
    private boolean skipBad;

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    @Option(names = "--quiet", description = "Show no progress, and print only the result.")
    private boolean quiet;

    @Override
    public Integer call() throws IOException {
        checkOptions();
        TraceReader.Options options = TraceReader.Options.defaults()
                .withBlockTokens(blockTokens)
                .withLimit(limit)
                .withSkipBad(skipBad);
        Trace trace = file == null ? TraceReader.bundled(options) : TraceReader.read(file, options);
        ReplayResult result = replay(trace);
        if (json) {
            JsonReport.print(System.out, generator -> writeFields(result, generator));
        } else {
            ReplaySummary.print(System.out, result);
        }
        if (result.badBlocks() > 0) {
            System.err.println("kvtier: " + result.badBlocks() + " blocks came back with wrong bytes");
            return ExitCodes.FAILED;
        }
        if (result.l2Fault() != null) {
            System.err.println(
                    "kvtier: the disk tier failed " + result.l2Failures() + " times, last: " + result.l2Fault());
            return ExitCodes.FAILED;
        }
        return 0;
    }

    private ReplayResult replay(Trace trace) throws IOException {
        if (l2Dir != null || l2Blocks == 0) {
            return replay(trace, l2Dir == null ? Path.of("") : l2Dir, null);
        }
        try (TemporaryFolder folder = TemporaryFolder.create("kvtier-replay-")) {
            return replay(trace, folder.path(), folder);
        }
    }

    private ReplayResult replay(Trace trace, Path folder, @Nullable TemporaryFolder temporary) throws IOException {
        ReplaySettings settings = new ReplaySettings(l1Blocks, l2Blocks, payloadBytes, policy, touch, folder, asEngine);
        try (Replay replay = Replay.open(trace, settings);
                Progress progress = Progress.start("replay", trace.requests(), !quiet && !json)) {
            if (temporary != null) {
                temporary.beforeRemoval(replay::stop);
            }
            if (replay.warmBlocks() > 0 && !quiet) {
                System.err.printf(
                        Locale.ROOT,
                        "%s holds %,d objects of earlier runs: starting warm%n",
                        folder,
                        replay.warmBlocks());
            }
            return replay.run(progress::done);
        }
    }

    private void checkOptions() {
        require(l1Blocks >= 1, "--l1-blocks", Long.toString(l1Blocks), "at least 1, or 'unlimited'");
        require(blockTokens >= 1, "--block-tokens", Integer.toString(blockTokens), "at least 1");
        require(limit >= 0, "--limit", Long.toString(limit), "at least 0");
        require(l2Dir == null || !l2Dir.toString().isEmpty(), "--l2-dir", "an empty text", "the name of a folder");
        require(payloadBytes >= 1, "--payload-bytes", Integer.toString(payloadBytes), "at least 1");
    }

    private void require(boolean condition, String option, String given, String allowed) {
        if (!condition) {
            throw new ParameterException(spec.commandLine(), option + " must be " + allowed + ", got " + given);
        }
    }

    private void writeFields(ReplayResult result, JsonGenerator out) {
        out.writeStringProperty("format", result.format());
        out.writeStringProperty("policy", policy.name().toLowerCase(Locale.ROOT));
        out.writeStringProperty("touch", touch.name().toLowerCase(Locale.ROOT));
        out.writeNumberProperty("payload_bytes", payloadBytes);
        out.writeNumberProperty("requests", result.requests());
        out.writeNumberProperty("block_references", result.blockReferences());
        out.writeNumberProperty("distinct_blocks", result.distinctBlocks());
        out.writeNumberProperty("input_tokens", result.inputTokens());
        out.writeNumberProperty("hit_blocks", result.hitBlocks());
        out.writeNumberProperty("hit_tokens", result.hitTokens());
        out.writeNumberProperty("l1_hit_blocks", result.l1HitBlocks());
        out.writeNumberProperty("l2_hit_blocks", result.l2HitBlocks());
        out.writeNumberProperty("l1_evictions", result.l1Evictions());
        out.writeNumberProperty("l2_evictions", result.l2Evictions());
        out.writeNumberProperty("verified_blocks", result.verifiedBlocks());
        out.writeNumberProperty("bad_blocks", result.badBlocks());
        out.writeNumberProperty("lost_blocks", result.lostBlocks());
        out.writeNumberProperty("refused_blocks", result.refusedBlocks());
        out.writeNumberProperty("l2_failures", result.l2Failures());
        out.writeStringProperty("l2_fault", result.l2Fault());
        out.writeNumberProperty("stored_bytes", result.storedBytes());
        out.writeNumberProperty("read_bytes", result.readBytes());
        out.writeNumberProperty("l2_read_bytes", result.l2ReadBytes());
        out.writeNumberProperty("warm_blocks", result.warmBlocks());
        out.writeNumberProperty("resident_blocks", result.residentBlocks());
        out.writeNumberProperty("skipped_lines", result.skippedLines());
        out.writeNumberProperty("wall_seconds", result.wallSeconds());
        out.writeNumberProperty("lookup_p50_us", result.lookupP50Micros());
        out.writeNumberProperty("lookup_p99_us", result.lookupP99Micros());
        out.writeNumberProperty("heap_bytes", result.heapBytes());
        out.writeNumberProperty("slab_bytes", result.slabBytes());
    }
}
