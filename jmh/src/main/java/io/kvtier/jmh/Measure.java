package io.kvtier.jmh;

import io.kvtier.bindings.nixl.Operation;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A question and its cases.
 *
 * @param name as it stands in commands and in the table
 * @param benchmark the class whose methods answer it
 * @param unit what all cases count in
 * @param timing how ours and the anchors are timed
 * @param missing says why nothing of it can run here, or null
 * @param cases rows of the table, but for their anchors
 */
record Measure(
        String name,
        Class<?> benchmark,
        Unit unit,
        Timing timing,
        Supplier<@Nullable String> missing,
        List<Case> cases) {
    /** All measures, in the order of the table. */
    static final List<Measure> ALL = List.of(pagePool(), hostCopy(), chunkHash(), ffmCall(), nixlPosix(), nixlUcx());

    /** How ours and the anchors are timed. */
    enum Timing {
        /** Each benchmark for itself, one after the other. */
        APART,
        /** In turns, by one benchmark that runs both. */
        IN_PAIRS
    }

    /**
     * One of our operations and what it is compared with.
     *
     * @param name as it stands in the table
     * @param ours our benchmark
     * @param parameters JMH's parameters of ours and the anchors
     * @param bytes bytes that an operation handles
     * @param anchors anchors and what we promise against each
     */
    record Case(String name, String ours, Map<String, String> parameters, long bytes, List<Comparison> anchors) {}

    /** An anchor and what we promise against it. */
    record Comparison(Anchor anchor, Target target) {}

    /** Returns the names of all measures. */
    static List<String> names() {
        return ALL.stream().map(Measure::name).toList();
    }

    /** Returns the benchmarks that can run here: ours and the anchors that are not missing. */
    Set<String> methods() {
        Set<String> methods = new LinkedHashSet<>();
        if (missing.get() != null) {
            return methods;
        }
        for (Case each : cases) {
            methods.add(each.ours);
            for (Comparison comparison : each.anchors) {
                if (comparison.anchor.missing().get() == null) {
                    methods.addAll(comparison.anchor.methods());
                }
            }
        }
        return methods;
    }

    private static Measure pagePool() {
        List<Case> cases = new ArrayList<>();
        for (int threads = 1; threads <= 2; threads++) {
            String suffix = threads == 1 ? "" : "TwoThreads";
            Target target = Target.fasterAndWithin(threads == 1 ? 25 : 50);
            for (int kib : List.of(64, 1024)) {
                Anchor malloc = new Anchor("malloc", List.of("malloc" + suffix), LibcNative::missing);
                Anchor netty = Anchor.of("Netty pooled direct", "netty" + suffix);
                cases.add(new Case(
                        size(kib) + ", " + threads + (threads == 1 ? " thread" : " threads"),
                        "kvtier" + suffix,
                        Map.of("pageBytes", Integer.toString(kib * 1024)),
                        kib * 1024L,
                        List.of(new Comparison(malloc, target), new Comparison(netty, target))));
            }
        }
        return apart("page-pool", PagePoolBenchmark.class, Unit.NANOSECONDS, () -> null, cases);
    }

    private static Measure hostCopy() {
        List<Case> cases = new ArrayList<>();
        Anchor segmentCopy = Anchor.of("MemorySegment.copy", "segmentCopy");
        Anchor memcpy = new Anchor("memcpy", List.of("memcpy"), LibcNative::missing);
        Anchor segmentCopyCrc = Anchor.of("MemorySegment.copy, then CRC", "segmentCopy", "crc");
        Anchor memcpyCrc = new Anchor("memcpy, then CRC", List.of("memcpy", "crc"), LibcNative::missing);
        List<Comparison> copies = compare(Target.atLeast(0.95), segmentCopy, memcpy);
        List<Comparison> copiesAndCrc = compare(Target.atLeast(0.9), segmentCopyCrc, memcpyCrc);
        for (int kib : List.of(256, 1024, 4096, 16384)) {
            Map<String, String> parameters = Map.of("objectKib", Integer.toString(kib));
            long bytes = kib * 1024L;
            cases.add(new Case("store " + size(kib), "gather", parameters, bytes, copies));
            cases.add(new Case("retrieve " + size(kib), "scatter", parameters, bytes, copies));
            cases.add(new Case("store " + size(kib) + ", CRC", "gatherCrc", parameters, bytes, copiesAndCrc));
            cases.add(new Case("retrieve " + size(kib) + ", CRC", "scatterCrc", parameters, bytes, copiesAndCrc));
        }
        return apart("host-copy", HostCopyBenchmark.class, Unit.GB_PER_SECOND, () -> null, cases);
    }

    private static Measure chunkHash() {
        List<Case> cases = new ArrayList<>();
        for (int tokens : List.of(16, 256)) {
            // A byte per chunk is less than any object.
            Target target = Target.atLeast(0.95).withoutAllocation((double) ChunkHashBenchmark.TOKENS / tokens);
            cases.add(new Case(
                    "chunks of " + tokens + " tokens",
                    "kvtier",
                    Map.of("chunkTokens", Integer.toString(tokens)),
                    (long) ChunkHashBenchmark.TOKENS * Integer.BYTES,
                    List.of(
                            new Comparison(new Anchor("OpenSSL", List.of("openSsl"), OpenSslNative::missing), target),
                            new Comparison(Anchor.of("MessageDigest", "messageDigest"), Target.NONE))));
        }
        return apart("chunk-hash", ChunkHashBenchmark.class, Unit.MB_PER_SECOND, () -> null, cases);
    }

    private static Measure ffmCall() {
        Target normal = Target.atMostAboveAnchor(4);
        Target critical = Target.atMostAboveAnchor(3.5);
        List<Case> cases = List.of(
                call("no-op", "nothing", normal),
                call("no-op, membarrier", "nothingMembarrier", normal),
                call("no-op, critical", "nothingCritical", critical),
                call("no-op, errno kept", "nothingErrno", Target.NONE),
                call("5 arguments", "five", normal),
                call("5 arguments, membarrier", "fiveMembarrier", normal),
                call("5 arguments, critical", "fiveCritical", critical),
                call("5 arguments, generated", "fiveGenerated", normal));
        return apart("ffm-call", FfmCallBenchmark.class, Unit.NANOSECONDS, FfmCallNative::missing, cases);
    }

    private static Case call(String name, String ours, Target target) {
        Anchor anchor = Anchor.of("C, by a pointer", ours.startsWith("five") ? "fiveInC" : "nothingInC");
        return new Case(name, ours, Map.of(), 0, List.of(new Comparison(anchor, target)));
    }

    private static Measure nixlPosix() {
        List<Case> cases = new ArrayList<>();
        for (Operation operation : List.of(Operation.WRITE, Operation.READ)) {
            addTransfers(cases, operation, Map.of("operation", operation.name()), NixlPosixBenchmark.BYTES);
        }
        return inPairs("nixl-posix", NixlPosixBenchmark.class, NixlPosixBenchmark.PLUGIN, cases);
    }

    private static Measure nixlUcx() {
        List<Case> cases = new ArrayList<>();
        addTransfers(cases, Operation.WRITE, Map.of(), NixlUcxBenchmark.BYTES);
        return inPairs("nixl-ucx", NixlUcxBenchmark.class, NixlUcxBenchmark.PLUGIN, cases);
    }

    private static void addTransfers(
            List<Case> cases, Operation operation, Map<String, String> parameters, long bytes) {
        for (boolean sameRequest : List.of(false, true)) {
            for (int kib : List.of(1024, 2048, 4096)) {
                Map<String, String> all = new TreeMap<>(parameters);
                all.put("pieceKib", Integer.toString(kib));
                all.put("sameRequest", Boolean.toString(sameRequest));
                cases.add(new Case(
                        operation.name().toLowerCase(Locale.ROOT) + " by " + size(kib)
                                + (sameRequest ? ", same request" : ""),
                        "pair",
                        all,
                        bytes,
                        compare(Target.atLeast(0.97), Anchor.of("C", "pair"))));
            }
        }
    }

    private static Measure apart(
            String name, Class<?> benchmark, Unit unit, Supplier<@Nullable String> missing, List<Case> cases) {
        return new Measure(name, benchmark, unit, Timing.APART, missing, cases);
    }

    private static Measure inPairs(String name, Class<?> benchmark, String plugin, List<Case> cases) {
        return new Measure(
                name, benchmark, Unit.GB_PER_SECOND, Timing.IN_PAIRS, () -> NixlTransferNative.missing(plugin), cases);
    }

    private static List<Comparison> compare(Target target, Anchor... anchors) {
        List<Comparison> comparisons = new ArrayList<>();
        for (Anchor anchor : anchors) {
            comparisons.add(new Comparison(anchor, target));
        }
        return List.copyOf(comparisons);
    }

    private static String size(int kib) {
        return kib < 1024 ? kib + " KiB" : kib / 1024 + " MiB";
    }
}
