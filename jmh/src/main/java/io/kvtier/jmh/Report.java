package io.kvtier.jmh;

import io.kvtier.jmh.Measure.Case;
import io.kvtier.jmh.Measure.Comparison;
import java.io.PrintStream;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** The rows of a run, as a table and as JSON. */
record Report(List<Row> rows) {
    private static final List<String> HEAD =
            List.of("measure", "case", "ours", "anchor", "anchor's name", "unit", "ratio", "spread", "target", "met");
    private static final Set<String> NUMBERS = Set.of("ours", "anchor", "ratio");
    private static final String NONE = "-";
    private static final String NOT_AVAILABLE = "not available";

    static Report of(List<Measure> measures, Scores scores) {
        List<Row> rows = new ArrayList<>();
        for (Measure measure : measures) {
            for (Case each : measure.cases()) {
                for (Comparison comparison : each.anchors()) {
                    rows.add(row(measure, each, comparison, scores));
                }
            }
        }
        return new Report(rows);
    }

    private static Row row(Measure measure, Case each, Comparison comparison, Scores scores) {
        Anchor anchor = comparison.anchor();
        Pairs pairs = scores.pairs(measure.benchmark(), each.ours(), each.parameters());
        Score ours =
                pairs == null ? scores.sum(measure.benchmark(), List.of(each.ours()), each.parameters()) : pairs.ours();
        Score theirs =
                pairs == null ? scores.sum(measure.benchmark(), anchor.methods(), each.parameters()) : pairs.anchor();
        String missing = measure.missing().get();
        return new Row(
                measure.name(),
                each.name(),
                measure.unit(),
                each.bytes(),
                ours,
                anchor.name(),
                theirs,
                pairs,
                missing != null,
                missing == null ? reason(ours, theirs, anchor) : missing,
                comparison.target());
    }

    private static @Nullable String reason(@Nullable Score ours, @Nullable Score theirs, Anchor anchor) {
        if (ours == null) {
            return "our benchmark failed, see above";
        }
        if (theirs != null) {
            return null;
        }
        String missing = anchor.missing().get();
        return missing == null ? "its benchmark failed, see above" : missing;
    }

    /** Returns whether a benchmark of ours that could run here has no score. */
    boolean failed() {
        return rows.stream().anyMatch(row -> row.ours() == null && !row.missing());
    }

    void print(PrintStream out) {
        List<List<String>> lines = new ArrayList<>();
        lines.add(HEAD);
        for (Row row : rows) {
            lines.add(cells(row));
        }
        int[] widths = new int[HEAD.size()];
        for (List<String> line : lines) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], line.get(i).length());
            }
        }
        for (List<String> line : lines) {
            out.println(line(line, widths));
        }
        rows.stream()
                .filter(row -> row.reason() != null)
                .map(row -> subject(row) + ": not available: " + row.reason())
                .distinct()
                .forEach(out::println);
    }

    /** Returns what is missing: one anchor, or the whole measure. */
    private static String subject(Row row) {
        return row.missing() ? row.measure() : row.measure() + ", " + row.name() + ", " + row.anchorName();
    }

    private static String line(List<String> cells, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            boolean number = NUMBERS.contains(HEAD.get(i));
            String padding = " ".repeat(widths[i] - cells.get(i).length());
            line.append(number ? padding + cells.get(i) : cells.get(i) + padding)
                    .append("  ");
        }
        return line.toString().stripTrailing();
    }

    private static List<String> cells(Row row) {
        Double ratio = row.ratio();
        Boolean met = row.met();
        return List.of(
                row.measure(),
                row.name(),
                row.missing() ? NOT_AVAILABLE : value(row, row.ours()),
                row.anchor() == null ? NOT_AVAILABLE : value(row, row.anchor()),
                row.anchorName(),
                row.unit().toString(),
                ratio == null ? NONE : String.format(Locale.ROOT, "%.3f", ratio),
                row.pairs() == null ? NONE : spread(row.pairs()),
                row.target().toString(),
                met == null ? NONE : met ? "yes" : "no");
    }

    /** Returns between which ratios the middle half of the pairs lies. */
    private static String spread(Pairs pairs) {
        return String.format(Locale.ROOT, "%.3f-%.3f", pairs.ratio(0.25), pairs.ratio(0.75));
    }

    private static String value(Row row, @Nullable Score score) {
        return score == null ? NONE : row.unit().format(row.unit().value(score.nanos(), row.bytes()));
    }

    /** Returns the rows and the machine as one JSON object. */
    String json(Machine machine, boolean quick) {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = new JsonFactory().createGenerator(ObjectWriteContext.empty(), text)) {
            json.writeStartObject();
            json.writeName("machine");
            json.writeStartObject();
            json.writeStringProperty("cpu", machine.cpu());
            json.writeNumberProperty("cores", machine.cores());
            json.writeStringProperty("jdk", machine.jdk());
            json.writeStringProperty("os", machine.os());
            json.writeEndObject();
            json.writeBooleanProperty("quick", quick);
            json.writeName("rows");
            json.writeStartArray();
            for (Row row : rows) {
                write(json, row);
            }
            json.writeEndArray();
            json.writeEndObject();
        }
        return text.toString();
    }

    private static void write(JsonGenerator json, Row row) {
        json.writeStartObject();
        json.writeStringProperty("measure", row.measure());
        json.writeStringProperty("case", row.name());
        json.writeStringProperty("unit", row.unit().toString());
        write(json, "ours", row, row.ours());
        json.writeStringProperty("anchor_name", row.anchorName());
        write(json, "anchor", row, row.anchor());
        writeNumber(json, "ratio", row.ratio());
        writePairs(json, row.pairs());
        json.writeStringProperty("target", row.target().toString());
        json.writeName("met");
        Boolean met = row.met();
        if (met == null) {
            json.writeNull();
        } else {
            json.writeBoolean(met);
        }
        json.writeName("not_available");
        if (row.reason() == null) {
            json.writeNull();
        } else {
            json.writeString(row.reason());
        }
        json.writeEndObject();
    }

    private static void write(JsonGenerator json, String name, Row row, @Nullable Score score) {
        Double value = score == null ? null : (Double) row.unit().value(score.nanos(), row.bytes());
        writeNumber(json, name, value);
        // The relative error of a rate is that of the time.
        Double error = score == null || value == null ? null : (Double) (value * score.error() / score.nanos());
        writeNumber(json, name + "_error", error);
        writeNumber(json, name + "_bytes_per_op", score == null ? null : (Double) score.bytesPerOp());
    }

    private static void writePairs(JsonGenerator json, @Nullable Pairs pairs) {
        json.writeName("pairs");
        if (pairs == null) {
            json.writeNull();
            return;
        }
        json.writeStartArray();
        for (Pairs.Pair pair : pairs.all()) {
            json.writeStartObject();
            writeNumber(json, "ours_ns", pair.oursNanos());
            writeNumber(json, "anchor_ns", pair.anchorNanos());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static void writeNumber(JsonGenerator json, String name, @Nullable Double value) {
        if (value == null || !Double.isFinite(value)) {
            json.writeNullProperty(name);
        } else {
            json.writeNumberProperty(name, value);
        }
    }
}
