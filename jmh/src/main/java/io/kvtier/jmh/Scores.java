package io.kvtier.jmh;

import io.kvtier.jmh.Pairs.Pair;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;

/** The scores and pairs of a run, by benchmark and parameters. */
final class Scores {
    private static final String ALLOCATION = "gc.alloc.rate.norm";

    private final Map<Key, Score> scores = new HashMap<>();
    private final Map<Key, Pairs> pairs = new HashMap<>();

    private record Key(String benchmark, Map<String, String> parameters) {
        static Key of(BenchmarkParams params) {
            Map<String, String> parameters = new TreeMap<>();
            for (String name : params.getParamsKeys()) {
                parameters.put(name, params.getParam(name));
            }
            return new Key(params.getBenchmark(), parameters);
        }
    }

    /** Takes the results of a run that counts in nanoseconds per operation. */
    void add(Collection<RunResult> results) {
        for (RunResult result : results) {
            Result<?> time = result.getPrimaryResult();
            Result<?> allocation = result.getSecondaryResults().get(ALLOCATION);
            scores.put(
                    Key.of(result.getParams()),
                    new Score(
                            time.getScore(),
                            time.getScoreError(),
                            allocation == null ? Double.NaN : allocation.getScore()));
        }
    }

    /** Takes the results of a run whose every iteration is a pair. */
    void addPairs(Collection<RunResult> results) {
        for (RunResult result : results) {
            List<Pair> all = new ArrayList<>();
            for (BenchmarkResult fork : result.getBenchmarkResults()) {
                for (IterationResult iteration : fork.getIterationResults()) {
                    all.add(new Pair(time(iteration, PairTimes.OURS), time(iteration, PairTimes.ANCHOR)));
                }
            }
            pairs.put(Key.of(result.getParams()), new Pairs(all));
        }
    }

    private static double time(IterationResult iteration, String counter) {
        return Objects.requireNonNull(iteration.getSecondaryResults().get(counter), counter)
                .getScore();
    }

    void put(String benchmark, Map<String, String> parameters, Score score) {
        scores.put(new Key(benchmark, parameters), score);
    }

    void put(String benchmark, Map<String, String> parameters, Pairs measured) {
        pairs.put(new Key(benchmark, parameters), measured);
    }

    /** Returns the pairs that a benchmark ran, or null if it has none. */
    @Nullable
    Pairs pairs(Class<?> benchmark, String method, Map<String, String> parameters) {
        return pairs.get(new Key(benchmark.getName() + "." + method, parameters));
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
