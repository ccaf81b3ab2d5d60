package io.kvtier.jmh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.kvtier.jmh.Measure.Case;
import io.kvtier.jmh.Measure.Comparison;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
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
    void allocationMissesATargetOfNone() {
        Target target = Target.atLeast(0.95).withoutAllocation(16);
        assertThat(target.isMet(1, new Score(1, 0, 3))).isTrue();
        assertThat(target.isMet(1, new Score(1, 0, 24))).isFalse();
        assertThat(target.isMet(1, new Score(1, 0, Double.NaN))).isFalse();
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
                .containsPattern("copying +one +1\\.00 +not available +libfast +GB/s +- +ratio >= 0\\.95 +-\n")
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
    void jsonHoldsRowsErrorsAllocationAndMachine() {
        Machine machine = new Machine("Some CPU", 2, "Vendor 25", "Linux");
        String json = report(Anchor.of("copy", "copy")).json(machine, true);
        assertThat(json)
                .isEqualTo("{\"machine\":{\"cpu\":\"Some CPU\",\"cores\":2,\"jdk\":\"Vendor 25\",\"os\":\"Linux\"},"
                        + "\"quick\":true,\"rows\":[{\"measure\":\"copying\",\"case\":\"one\",\"unit\":\"GB/s\","
                        + "\"ours\":1.0,\"ours_error\":0.1,\"ours_bytes_per_op\":0.0,\"anchor_name\":\"copy\","
                        + "\"anchor\":10.0,\"anchor_error\":1.5,\"anchor_bytes_per_op\":1.0,\"ratio\":0.1,"
                        + "\"target\":\"ratio >= 0.95\",\"met\":false,\"not_available\":null}]}");
    }

    @Test
    void jsonHasNullForWhatIsNotKnown() {
        Anchor missing = new Anchor("libfast", List.of("absent"), () -> "not installed");
        assertThat(report(missing).json(Machine.here(), false))
                .contains("\"anchor\":null,\"anchor_error\":null,\"anchor_bytes_per_op\":null,\"ratio\":null")
                .contains("\"met\":null,\"not_available\":\"not installed\"");
    }

    private static Row row(Unit unit, double ours, double anchor, Target target) {
        return new Row("m", "c", unit, 1000, new Score(ours, 0, 0), "anchor", new Score(anchor, 0, 0), null, target);
    }

    private static Report report(Anchor anchor) {
        Scores scores = new Scores();
        String prefix = ReportTest.class.getName() + ".";
        scores.put(prefix + "ours", PARAMETERS, new Score(200, 20, 0));
        scores.put(prefix + "copy", PARAMETERS, new Score(20, 3, 1));
        scores.put(prefix + "crc", PARAMETERS, new Score(80, 4, 2));
        return Report.of(List.of(measure(anchor)), scores);
    }

    private static Measure measure(Anchor anchor) {
        Comparison comparison = new Comparison(anchor, Target.atLeast(0.95));
        Case one = new Case("one", "ours", PARAMETERS, 200, List.of(comparison));
        return new Measure("copying", ReportTest.class, Unit.GB_PER_SECOND, List.of(one));
    }

    private static String print(Report report) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        report.print(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        return bytes.toString(StandardCharsets.UTF_8).replace("\r\n", "\n");
    }
}
