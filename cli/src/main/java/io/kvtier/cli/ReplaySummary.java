package io.kvtier.cli;

import io.kvtier.trace.ReplayResult;
import java.io.PrintStream;
import java.util.Locale;

/** The readable form of a replay's result. */
final class ReplaySummary {
    private final PrintStream out;

    private ReplaySummary(PrintStream out) {
        this.out = out;
    }

    static void print(PrintStream out, ReplayResult result) {
        new ReplaySummary(out).print(result);
    }

    private void print(ReplayResult r) {
        line(
                "trace",
                "%s: %,d requests, %,d block references, %,d distinct blocks, %,d input tokens",
                r.format(),
                r.requests(),
                r.blockReferences(),
                r.distinctBlocks(),
                r.inputTokens());
        if (r.skippedLines() > 0) {
            line("skipped", "%,d bad lines", r.skippedLines());
        }
        line(
                "hits",
                "%,d blocks (%s), %,d tokens (%s)",
                r.hitBlocks(),
                percent(r.hitBlocks(), r.blockReferences()),
                r.hitTokens(),
                percent(r.hitTokens(), r.inputTokens()));
        line(
                "  memory",
                "%,d blocks (%s), %,d evictions",
                r.l1HitBlocks(),
                percent(r.l1HitBlocks(), r.blockReferences()),
                r.l1Evictions());
        line(
                "  disk",
                "%,d blocks (%s), %,d evictions",
                r.l2HitBlocks(),
                percent(r.l2HitBlocks(), r.blockReferences()),
                r.l2Evictions());
        printEffort(r);
    }

    private void printEffort(ReplayResult r) {
        line("verified", "%,d blocks, %,d bad, %,d lost", r.verifiedBlocks(), r.badBlocks(), r.lostBlocks());
        if (r.refusedBlocks() > 0 || r.l2Failures() > 0) {
            line(
                    "not stored",
                    "%,d for lack of space, %,d failures of the disk tier",
                    r.refusedBlocks(),
                    r.l2Failures());
        }
        line(
                "bytes",
                "%s written to disk, %s read back (%s from disk)",
                size(r.storedBytes()),
                size(r.readBytes()),
                size(r.l2ReadBytes()));
        line(
                "time",
                "%.2f s; lookup p50 %.1f us, p99 %.1f us per request",
                r.wallSeconds(),
                r.lookupP50Micros(),
                r.lookupP99Micros());
        line(
                "heap",
                "%s after the run, %,d bytes per resident block (%,d); %s reserved for payloads",
                size(r.heapBytes()),
                r.heapBytes() / Math.max(1, r.residentBlocks()),
                r.residentBlocks(),
                size(r.slabBytes()));
    }

    private void line(String label, String format, Object... values) {
        out.printf(Locale.ROOT, "%-10s ", label);
        out.printf(Locale.ROOT, format + "%n", values);
    }

    private static String percent(long part, long whole) {
        return String.format(Locale.ROOT, "%.2f %%", whole == 0 ? 0 : 100.0 * part / whole);
    }

    private static String size(long bytes) {
        return String.format(Locale.ROOT, "%.1f MiB", bytes / 1048576.0);
    }
}
