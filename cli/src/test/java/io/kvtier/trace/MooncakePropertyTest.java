package io.kvtier.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;

class MooncakePropertyTest {
    private static final List<String> BAD = List.of(
            "nonsense",
            "[]",
            "{\"timestamp\": 1, \"input_length\": 5, \"output_length\": 1}",
            "{\"timestamp\": 1, \"input_length\": -5, \"output_length\": 1, \"hash_ids\": [1]}",
            "{\"timestamp\": 1, \"input_length\": 5, \"output_length\": 1, \"hash_ids\": [77, -1]}",
            "{\"timestamp\": 1, \"input_length\": 5, \"output_length\": 1, \"hash_ids\": [77]} 1",
            "{\"timestamp\": 1, \"input_length\": 5, \"output_length\": 1, \"hash_ids\": [77]");

    /** A line of a file: a request, or null ids for a bad line. */
    record Line(String text, int input, List<String> ids, boolean bad) {}

    @Property(tries = 300)
    void readsWhatTheModelReads(
            @ForAll("files") List<Line> lines,
            @ForAll boolean packed,
            @ForAll @IntRange(min = 1, max = 3000) int blockTokens,
            @ForAll @IntRange(max = 20) int limit)
            throws IOException {
        List<Line> good = lines.stream().filter(line -> !line.bad).toList();
        List<Line> firstGood = new ArrayList<>(good.subList(0, 1));
        firstGood.addAll(lines);
        List<TraceModel.Request> expected = firstGood.stream()
                .filter(line -> !line.bad)
                .map(line -> request(line, blockTokens))
                .toList();
        Fixtures.inFolder(folder -> {
            var file = Fixtures.write(folder.resolve("trace"), text(firstGood), packed);
            var options = new TraceReader.Options(blockTokens, Long.MAX_VALUE, true);
            Trace all = TraceReader.read(file, options);
            TraceModel.assertTrace(all, expected, Long.MAX_VALUE);
            assertThat(all.format()).isEqualTo("mooncake");
            assertThat(all.skippedLines()).isEqualTo(firstGood.size() - expected.size());
            Trace limited = TraceReader.read(file, options.withLimit(limit));
            TraceModel.assertTrace(limited, expected, limit);
            TraceModel.assertStart(limited, all);
        });
    }

    private static TraceModel.Request request(Line line, int blockTokens) {
        return new TraceModel.Request(line.input, line.ids, blockTokens);
    }

    private static String text(List<Line> lines) {
        StringBuilder text = new StringBuilder("\uFEFF");
        for (Line line : lines) {
            text.append(line.text).append(line.input % 2 == 0 ? "\n" : "\r\n \n");
        }
        return text.toString();
    }

    @Provide
    Arbitrary<List<Line>> files() {
        Arbitrary<Line> line = Arbitraries.frequencyOf(Tuple.of(6, goodLines()), Tuple.of(1, badLines()));
        return line.list()
                .ofMinSize(1)
                .ofMaxSize(30)
                .filter(lines -> lines.stream().anyMatch(l -> !l.bad));
    }

    private static Arbitrary<Line> badLines() {
        return Arbitraries.of(BAD).map(text -> new Line(text, 0, List.of(), true));
    }

    private static Arbitrary<Line> goodLines() {
        Arbitrary<String> id = Arbitraries.oneOf(
                Arbitraries.integers().between(0, 12).map(String::valueOf),
                Arbitraries.longs().map(Long::toUnsignedString));
        return Combinators.combine(
                        Arbitraries.of("0", "17", "3.5", "1e3", "4503599627370496"),
                        Arbitraries.integers().between(0, 20_000),
                        id.list().ofMaxSize(12),
                        Arbitraries.of(
                                "{\"timestamp\":%1$s,\"input_length\":%2$d,\"output_length\":0,\"hash_ids\":%3$s}",
                                "{ \"hash_ids\":%3$s,\"output_length\":9, \"timestamp\": %1$s, \"input_length\":%2$d}",
                                "{\"x\": {\"requests\": [1]}, \"hash_ids\": %3$s, \"output_length\": 2147483647, "
                                        + "\"timestamp\": %1$s, \"input_length\":%2$d, \"y\": [null, \"\\u00e9\"]}"))
                .as((time, input, ids, shape) -> new Line(shape.formatted(time, input, ids), input, ids, false));
    }
}
