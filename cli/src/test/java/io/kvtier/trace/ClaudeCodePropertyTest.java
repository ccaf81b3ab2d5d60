package io.kvtier.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;

class ClaudeCodePropertyTest {
    private static final String BAD_SESSION = """
            {"id": "a", "block_size": 64, "requests": [{"t": 0, "type": "n", "in": 64, "out": 1, "hash_ids": [91]}, \
            {"t": 0, "type": "n", "in": 64, "out": 1, "hash_ids": [92, 93]}]}""";

    /** A request, or a sub-agent if it has a list of inner ones. */
    record Entry(int time, List<Integer> ids, int rest, List<Entry> inner, boolean subagent) {
        String json(int blockSize) {
            return subagent
                    ? "{\"type\": \"subagent\", \"requests\": %s, \"status\": \"x\", \"t\": %d}"
                            .formatted(jsonOf(inner, blockSize), time)
                    : "{\"t\": %d, \"type\": \"s\", \"in\": %d, \"out\": 3, \"hash_ids\": %s, \"ttft\": 0.5}"
                            .formatted(time, input(blockSize), ids);
        }

        int input(int blockSize) {
            return ids.size() * blockSize + rest % blockSize;
        }

        static String jsonOf(List<Entry> entries, int blockSize) {
            return entries.stream().map(entry -> entry.json(blockSize)).collect(Collectors.joining(",", "[", "]"));
        }
    }

    record Session(int blockSize, List<Entry> entries) {}

    /** A request with its time since the session's start. */
    record Timed(long time, TraceModel.Request request) {}

    @Property(tries = 300)
    void readsWhatTheModelReads(
            @ForAll("sessions") List<Session> sessions, @ForAll boolean packed, @ForAll @IntRange(max = 20) int limit)
            throws IOException {
        StringBuilder text = new StringBuilder();
        List<Timed> timed = new ArrayList<>();
        for (int i = 0; i < sessions.size(); i++) {
            Session session = sessions.get(i);
            String id = "session \u00e9 " + i;
            text.append("{\"id\": \"%s\", \"requests\": %s, \"block_size\": %d, \"hash_id_scope\": \"local\"}\n"
                    .formatted(id, Entry.jsonOf(session.entries, session.blockSize), session.blockSize));
            addAll(session.entries, 0, id, session.blockSize, timed);
        }
        text.append(BAD_SESSION);
        List<TraceModel.Request> expected = timed.stream()
                .sorted(Comparator.comparingLong(Timed::time))
                .map(Timed::request)
                .toList();
        Fixtures.inFolder(folder -> {
            var file = Fixtures.write(folder.resolve("trace"), text.toString(), packed);
            var options = TraceReader.Options.defaults().withSkipBad(true);
            Trace all = TraceReader.read(file, options);
            TraceModel.assertTrace(all, expected, Long.MAX_VALUE);
            assertThat(all.format()).isEqualTo("claude-code");
            assertThat(all.skippedLines()).isEqualTo(1);
            Trace limited = TraceReader.read(file, options.withLimit(limit));
            TraceModel.assertTrace(limited, expected, limit);
            TraceModel.assertStart(limited, all);
        });
    }

    private static void addAll(List<Entry> entries, long start, String session, int blockSize, List<Timed> timed) {
        for (Entry entry : entries) {
            if (entry.subagent) {
                addAll(entry.inner, start + entry.time, session, blockSize, timed);
            } else {
                List<String> blocks =
                        entry.ids.stream().map(id -> session + "/" + id).toList();
                var request = new TraceModel.Request(entry.input(blockSize), blocks, blockSize);
                timed.add(new Timed(start + entry.time, request));
            }
        }
    }

    @Provide
    Arbitrary<List<Session>> sessions() {
        return Combinators.combine(
                        Arbitraries.integers().between(1, 100), entries().list().ofMaxSize(8))
                .as(Session::new)
                .list()
                .ofMinSize(1)
                .ofMaxSize(4);
    }

    private static Arbitrary<Entry> entries() {
        Arbitrary<Entry> plain = Combinators.combine(
                        Arbitraries.integers().between(0, 6),
                        Arbitraries.integers().between(0, 9).list().ofMaxSize(8),
                        Arbitraries.integers().between(0, 99))
                .as((time, ids, rest) -> new Entry(time, ids, rest, List.of(), false));
        Arbitrary<Entry> subagent = Combinators.combine(
                        Arbitraries.integers().between(0, 6), plain.list().ofMaxSize(4))
                .as((time, inner) -> new Entry(time, List.of(), 0, inner, true));
        return Arbitraries.oneOf(List.of(plain, plain, subagent));
    }
}
