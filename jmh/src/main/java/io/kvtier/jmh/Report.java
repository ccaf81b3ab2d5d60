package io.kvtier.jmh;

import io.kvtier.jmh.Measure.Case;
import io.kvtier.jmh.Measure.Comparison;
import java.io.PrintStream;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** The rows of a run, as a table and as JSON. */
record Report(List<Row> rows) {
    private static final List<String> HEAD =
            List.of("measure", "case", "ours", "anchor", "anchor's name", "unit", "ratio", "target", "met");
    private static final String NONE = "-";

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
        Score ours = scores.sum(measure.benchmark(), List.of(each.ours()), each.parameters());
        Score theirs = scores.sum(measure.benchmark(), anchor.methods(), each.parameters());
        return new Row(
                measure.name(),
                each.name(),
                measure.unit(),
                each.bytes(),
                ours,
                anchor.name(),
                theirs,
                reason(ours, theirs, anchor),
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

    /** Returns whether a benchmark of ours has no score. */
    boolean failed() {
        return rows.stream().anyMatch(row -> row.ours() == null);
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
        for (Row row : rows) {
            if (row.reason() != null) {
                out.println(row.measure() + ", " + row.name() + ", " + row.anchorName() + ": not available: "
                        + row.reason());
            }
        }
    }

    private static String line(List<String> cells, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            boolean number = i == 2 || i == 3 || i == 6;
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
                value(row, row.ours()),
                row.anchor() == null ? "not available" : value(row, row.anchor()),
                row.anchorName(),
                row.unit().toString(),
                ratio == null ? NONE : String.format(Locale.ROOT, "%.3f", ratio),
                row.target().toString(),
                met == null ? NONE : met ? "yes" : "no");
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

    private static void writeNumber(JsonGenerator json, String name, @Nullable Double value) {
        if (value == null || !Double.isFinite(value)) {
            json.writeNullProperty(name);
        } else {
            json.writeNumberProperty(name, value);
        }
    }
}
