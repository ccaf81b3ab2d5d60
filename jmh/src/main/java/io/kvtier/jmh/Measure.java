package io.kvtier.jmh;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A question and its cases.
 *
 * @param name as it stands in commands and in the table
 * @param benchmark the class whose methods answer it
 * @param unit what all cases count in
 * @param cases rows of the table, but for their anchors
 */
record Measure(String name, Class<?> benchmark, Unit unit, List<Case> cases) {
    /** All measures, in the order of the table. */
    static final List<Measure> ALL = List.of(pagePool(), hostCopy(), chunkHash());

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
        return new Measure("page-pool", PagePoolBenchmark.class, Unit.NANOSECONDS, cases);
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
        return new Measure("host-copy", HostCopyBenchmark.class, Unit.GB_PER_SECOND, cases);
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
        return new Measure("chunk-hash", ChunkHashBenchmark.class, Unit.MB_PER_SECOND, cases);
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
