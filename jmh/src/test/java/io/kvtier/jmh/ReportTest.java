package io.kvtier.jmh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kvtier.jmh.Measure.Case;
import io.kvtier.jmh.Measure.Comparison;
import io.kvtier.jmh.Measure.Timing;
import io.kvtier.jmh.Pairs.Pair;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ReportTest {
    private static final Map<String, String> PARAMETERS = Map.of("size", "1");

    @Test
    void aRatioAboveOneIsAWinWhateverTheUnit() {
        for (Unit unit : Unit.values()) {
            Row row = row(unit, 50, 100, Target.atLeast(1));
            assertThat(row.ratio()).as(unit.name()).isEqualTo(2, within(1e-9));
            assertThat(row.met()).isTrue();
        }
    }

    @Test
    void ratesAreMadeFromTimeAndBytes() {
        assertThat(Unit.NANOSECONDS.value(250, 1000)).isEqualTo(250);
        assertThat(Unit.GB_PER_SECOND.value(250, 1000)).isEqualTo(4);
        assertThat(Unit.MB_PER_SECOND.value(250, 1000)).isEqualTo(4000);
    }

    @Test
    void aTargetIsMetIfAllItsPartsAre() {
        assertThat(row(Unit.GB_PER_SECOND, 100, 95, Target.atLeast(0.95)).met()).isTrue();
        assertThat(row(Unit.GB_PER_SECOND, 100, 94, Target.atLeast(0.95)).met()).isFalse();
        assertThat(row(Unit.NANOSECONDS, 25, 26, Target.fasterAndWithin(25)).met())
                .isTrue();
        assertThat(row(Unit.NANOSECONDS, 26, 30, Target.fasterAndWithin(25)).met())
                .isFalse();
        assertThat(row(Unit.NANOSECONDS, 20, 20, Target.fasterAndWithin(25)).met())
                .isFalse();
        assertThat(row(Unit.NANOSECONDS, 20, 20, Target.NONE).met()).isNull();
    }

    @Test
    void aTargetMayBeADistanceToTheAnchor() {
        Target target = Target.atMostAboveAnchor(3.5);
        assertThat(row(Unit.NANOSECONDS, 5, 1.5, target).met()).isTrue();
        assertThat(row(Unit.NANOSECONDS, 5.1, 1.5, target).met()).isFalse();
        assertThat(row(Unit.NANOSECONDS, 1, 1.5, target).met()).isTrue();
        assertThat(target).hasToString("<= anchor + 3.5 ns");
        assertThat(target.isNone()).isFalse();
    }

    @Test
    void allocationMissesATargetOfNone() {
        Target target = Target.atLeast(0.95).withoutAllocation(16);
        Score anchor = new Score(1, 0, 0);
        assertThat(target.isMet(1, new Score(1, 0, 3), anchor)).isTrue();
        assertThat(target.isMet(1, new Score(1, 0, 24), anchor)).isFalse();
        assertThat(target.isMet(1, new Score(1, 0, Double.NaN), anchor)).isFalse();
        assertThat(target).hasToString("ratio >= 0.95, 0 B/op");
    }

    @Test
    void timesOfACombinedAnchorAddUp() {
        Report report = report(new Anchor("copy, then CRC", List.of("copy", "crc"), () -> null));
        Row row = report.rows().getFirst();
        assertThat(row.anchor()).isEqualTo(new Score(100, 5, 3));
        // 1/(1/copy + 1/crc) of 10 and 2.5 GB/s is 2 GB/s; ours is 1 GB/s.
        assertThat(row.ratio()).isEqualTo(0.5, within(1e-9));
    }

    @Test
    void aMissingAnchorIsARow() {
        Report report = report(new Anchor("libfast", List.of("absent"), () -> "libfast.so is not installed"));
        assertThat(report.failed()).isFalse();
        assertThat(report.rows().getFirst().met()).isNull();
        assertThat(print(report))
                .containsPattern("copying +one +1\\.00 +not available +libfast +GB/s +- +- +ratio >= 0\\.95 +-\n")
                .contains("copying, one, libfast: not available: libfast.so is not installed");
    }

    @Test
    void anAnchorThatFailedIsNotAvailable() {
        Report report = report(Anchor.of("broken", "absent"));
        assertThat(report.failed()).isFalse();
        assertThat(report.rows().getFirst().reason()).startsWith("its benchmark failed");
    }

    @Test
    void aFailureOfOursIsAFailure() {
        Report report = Report.of(List.of(measure(Anchor.of("copy", "copy"))), new Scores());
        assertThat(report.failed()).isTrue();
        assertThat(print(report)).contains("our benchmark failed");
    }

    @Test
    void aMeasureThatCannotRunHereIsRowsAndNoFailure() {
        Measure measure = measure(Timing.APART, () -> "there is no gcc", Anchor.of("copy", "copy"));
        Report report = Report.of(List.of(measure), new Scores());
        assertThat(measure.methods()).isEmpty();
        assertThat(report.failed()).isFalse();
        assertThat(print(report))
                .containsPattern("copying +one +not available +not available +copy +GB/s +- +- +ratio >= 0\\.95 +-\n")
                .endsWith("\ncopying: not available: there is no gcc\n");
    }

    @Test
    void aRowOfPairsHasTheMedianOfTheirRatiosAndTheSpread() {
        Report report = pairedReport();
        Row row = report.rows().getFirst();
        assertThat(row.ratio()).isEqualTo(1.25);
        assertThat(row.met()).isTrue();
        assertThat(report.failed()).isFalse();
        assertThat(print(report))
                .containsPattern(
                        "copying +one +1\\.00 +0\\.67 +C +GB/s +1\\.250 +0\\.500-1\\.500 +ratio >= 0\\.95 +yes\n");
    }

    @Test
    void jsonHoldsThePairs() {
        assertThat(pairedReport().json(Machine.here(), false))
                .contains("\"ours\":1.0,\"ours_error\":null,\"ours_bytes_per_op\":null")
                .contains("\"ratio\":1.25,\"pairs\":[{\"ours_ns\":100.0,\"anchor_ns\":50.0},")
                .contains("{\"ours_ns\":400.0,\"anchor_ns\":500.0},");
    }

    @Test
    void aFailedRunOfPairsIsAFailure() {
        Measure measure = measure(Timing.IN_PAIRS, () -> null, Anchor.of("C", "ours"));
        assertThat(Report.of(List.of(measure), new Scores()).failed()).isTrue();
    }

    @Test
    void jsonHoldsRowsErrorsAllocationAndMachine() {
        Machine machine = new Machine("Some CPU", 2, "Vendor 25", "Linux");
        String json = report(Anchor.of("copy", "copy")).json(machine, true);
        assertThat(json)
                .isEqualTo("{\"machine\":{\"cpu\":\"Some CPU\",\"cores\":2,\"jdk\":\"Vendor 25\",\"os\":\"Linux\"},"
                        + "\"quick\":true,\"rows\":[{\"measure\":\"copying\",\"case\":\"one\",\"unit\":\"GB/s\","
                        + "\"ours\":1.0,\"ours_error\":0.1,\"ours_bytes_per_op\":0.0,\"anchor_name\":\"copy\","
                        + "\"anchor\":10.0,\"anchor_error\":1.5,\"anchor_bytes_per_op\":1.0,\"ratio\":0.1,"
                        + "\"pairs\":null,\"target\":\"ratio >= 0.95\",\"met\":false,\"not_available\":null}]}");
    }

    @Test
    void jsonHasNullForWhatIsNotKnown() {
        Anchor missing = new Anchor("libfast", List.of("absent"), () -> "not installed");
        assertThat(report(missing).json(Machine.here(), false))
                .contains("\"anchor\":null,\"anchor_error\":null,\"anchor_bytes_per_op\":null,\"ratio\":null")
                .contains("\"met\":null,\"not_available\":\"not installed\"");
    }

    private static Row row(Unit unit, double ours, double anchor, Target target) {
        Score theirs = new Score(anchor, 0, 0);
        return new Row("m", "c", unit, 1000, new Score(ours, 0, 0), "anchor", theirs, null, false, null, target);
    }

    private static Report report(Anchor anchor) {
        Scores scores = new Scores();
        String prefix = ReportTest.class.getName() + ".";
        scores.put(prefix + "ours", PARAMETERS, new Score(200, 20, 0));
        scores.put(prefix + "copy", PARAMETERS, new Score(20, 3, 1));
        scores.put(prefix + "crc", PARAMETERS, new Score(80, 4, 2));
        return Report.of(List.of(measure(anchor)), scores);
    }

    private static Report pairedReport() {
        Scores scores = new Scores();
        // Ratios 0.5, 1.25, 3, 1.5 and 0.5; the medians of the times alone would give 1.5.
        scores.put(
                ReportTest.class.getName() + ".ours",
                PARAMETERS,
                new Pairs(List.of(
                        new Pair(100, 50),
                        new Pair(400, 500),
                        new Pair(100, 300),
                        new Pair(200, 300),
                        new Pair(800, 400))));
        return Report.of(List.of(measure(Timing.IN_PAIRS, () -> null, Anchor.of("C", "ours"))), scores);
    }

    private static Measure measure(Anchor anchor) {
        return measure(Timing.APART, () -> null, anchor);
    }

    private static Measure measure(Timing timing, Supplier<@Nullable String> missing, Anchor anchor) {
        Comparison comparison = new Comparison(anchor, Target.atLeast(0.95));
        Case one = new Case("one", "ours", PARAMETERS, 200, List.of(comparison));
        return new Measure("copying", ReportTest.class, Unit.GB_PER_SECOND, timing, missing, List.of(one));
    }

    private static String print(Report report) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        report.print(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        return bytes.toString(StandardCharsets.UTF_8).replace("\r\n", "\n");
    }
}
