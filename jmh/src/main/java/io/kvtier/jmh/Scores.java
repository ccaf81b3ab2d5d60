package io.kvtier.jmh;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;

/** The scores of a run, by benchmark and parameters. */
final class Scores {
    private static final String ALLOCATION = "gc.alloc.rate.norm";

    private final Map<Key, Score> scores = new HashMap<>();

    private record Key(String benchmark, Map<String, String> parameters) {}

    /** Takes the results of a run that counts in nanoseconds per operation. */
    static Scores of(Collection<RunResult> results) {
        Scores scores = new Scores();
        for (RunResult result : results) {
            BenchmarkParams params = result.getParams();
            Map<String, String> parameters = new TreeMap<>();
            for (String name : params.getParamsKeys()) {
                parameters.put(name, params.getParam(name));
            }
            Result<?> time = result.getPrimaryResult();
            Result<?> allocation = result.getSecondaryResults().get(ALLOCATION);
            scores.put(
                    params.getBenchmark(),
                    parameters,
                    new Score(
                            time.getScore(),
                            time.getScoreError(),
                            allocation == null ? Double.NaN : allocation.getScore()));
        }
        return scores;
    }

    void put(String benchmark, Map<String, String> parameters, Score score) {
        scores.put(new Key(benchmark, parameters), score);
    }

    /** Returns the sum of some benchmarks' scores, or null if one has none. */
    @Nullable
    Score sum(Class<?> benchmark, List<String> methods, Map<String, String> parameters) {
        Score[] parts = new Score[methods.size()];
        for (int i = 0; i < parts.length; i++) {
            Score part = scores.get(new Key(benchmark.getName() + "." + methods.get(i), parameters));
            if (part == null) {
                return null;
            }
            parts[i] = part;
        }
        return Score.sum(List.of(parts));
    }
}
