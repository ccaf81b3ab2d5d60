package io.kvtier.jmh;

import io.kvtier.jmh.Measure.Timing;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Runs measures in one JMH run and reports them. */
@Command(
        name = "bench",
        description = {
            "Measures kvtier beside anchors in the same run.",
            "The table goes to standard output, JMH's progress to standard error."
        },
        sortOptions = false,
        footerHeading = "Measures:%n",
        footer = {
            "  page-pool   a pair of free and allocate, beside malloc and Netty",
            "  host-copy   paged KV to an object and back, beside one plain copy",
            "  chunk-hash  a prompt's chained hashes, beside OpenSSL and MessageDigest",
            "  ffm-call    calls of a C function, beside calls in C through a pointer",
            "  nixl-posix  NIXL to a file and back, in pairs with the same in C",
            "  nixl-ucx    NIXL from agent to agent, in pairs with the same in C",
            "",
            "A ratio above 1 says that kvtier wins, whatever the unit. docs/benchmarks.md says what each measure asks."
                    + " A missed target is a row, not a failure; so is what is not installed."
        },
        exitCodeListHeading = "Exit codes:%n",
        exitCodeList = {
            "0:done, whether targets were met or not",
            "1:failed, also if a benchmark of kvtier failed",
            "2:wrong use",
            "3:something that is required is missing, such as a JDK 22"
        })
public final class BenchCommand implements Callable<Integer> {
    private static final int FAILED = 1;
    private static final int FIRST_JDK_THAT_WARNS_OF_UNSAFE = 24;

    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Parameters(paramLabel = "MEASURE", arity = "0..*", description = "What to measure; everything if left out.")
    private List<String> names = new ArrayList<>();

    @Option(names = "--quick", description = "About 4 minutes for everything, and less exact.")
    private boolean quick;

    @Option(
            names = "--json",
            paramLabel = "FILE",
            description = "Write the rows here too, with errors, allocated bytes and the machine.")
    private @Nullable Path json;

    @Option(
            names = {"-h", "--help"},
            usageHelp = true,
            description = "Show this help.")
    @SuppressWarnings("UnusedVariable") // picocli reads it
    private boolean help;

    private BenchCommand() {}

    /** Runs the command and ends the process with its exit code. */
    public static void main(String[] args) {
        System.exit(commandLine().execute(args));
    }

    static CommandLine commandLine() {
        CommandLine commandLine = new CommandLine(new BenchCommand());
        commandLine.setUsageHelpAutoWidth(true);
        commandLine.setExecutionExceptionHandler((e, command, _) -> {
            command.getErr().println("bench: " + (e.getMessage() == null ? e.toString() : e.getMessage()));
            return FAILED;
        });
        return commandLine;
    }

    @Override
    public Integer call() throws RunnerException, IOException {
        List<Measure> measures = measures();
        requireWritable();
        Machine machine = Machine.here();
        Scores scores = new Scores();
        scores.add(run(measures, Timing.APART, this::timeApart));
        scores.addPairs(run(measures, Timing.IN_PAIRS, this::timeInPairs));
        Report report = Report.of(measures, scores);
        report.print(System.out);
        if (json != null) {
            Files.writeString(json, report.json(machine, quick) + System.lineSeparator());
        }
        return report.failed() ? FAILED : 0;
    }

    private List<Measure> measures() {
        for (String name : names) {
            if (!Measure.names().contains(name)) {
                throw new ParameterException(
                        spec.commandLine(),
                        "unknown measure '" + name + "'; known are " + String.join(", ", Measure.names()));
            }
        }
        return Measure.ALL.stream()
                .filter(measure -> names.isEmpty() || names.contains(measure.name()))
                .toList();
    }

    // Before minutes of work, not after.
    private void requireWritable() {
        if (json == null) {
            return;
        }
        Path folder = json.toAbsolutePath().getParent();
        boolean writable =
                Files.exists(json) ? Files.isRegularFile(json) && Files.isWritable(json) : isWritableFolder(folder);
        if (!writable) {
            throw new ParameterException(spec.commandLine(), "--json " + json + ": cannot be written");
        }
    }

    private static boolean isWritableFolder(@Nullable Path folder) {
        return folder != null && Files.isDirectory(folder) && Files.isWritable(folder);
    }

    private Collection<RunResult> run(
            List<Measure> measures, Timing timing, UnaryOperator<ChainedOptionsBuilder> configure)
            throws RunnerException {
        List<String> patterns = measures.stream()
                .filter(measure -> measure.timing() == timing)
                .flatMap(BenchCommand::patterns)
                .toList();
        if (patterns.isEmpty()) {
            return List.of();
        }
        ChainedOptionsBuilder options = new OptionsBuilder()
                .timeUnit(TimeUnit.NANOSECONDS)
                .jvmArgs(forkArguments().toArray(String[]::new));
        patterns.forEach(options::include);
        return new Runner(
                        configure.apply(options).build(),
                        OutputFormatFactory.createFormatInstance(System.err, VerboseMode.NORMAL))
                .run();
    }

    private static Stream<String> patterns(Measure measure) {
        return measure.methods().stream()
                .map(method -> "^" + Pattern.quote(measure.benchmark().getName() + "." + method) + "$");
    }

    private ChainedOptionsBuilder timeApart(ChainedOptionsBuilder options) {
        return options.mode(Mode.AverageTime)
                .addProfiler(GCProfiler.class)
                .forks(quick ? 1 : 2)
                .warmupIterations(2)
                .warmupTime(TimeValue.milliseconds(quick ? 250 : 500))
                .measurementIterations(quick ? 4 : 5)
                .measurementTime(TimeValue.milliseconds(quick ? 250 : 500));
    }

    // More forks, as a connection may be lucky for as long as it lives.
    private ChainedOptionsBuilder timeInPairs(ChainedOptionsBuilder options) {
        return options.mode(Mode.SingleShotTime)
                .forks(quick ? 2 : 4)
                .warmupIterations(2)
                .measurementIterations(quick ? 15 : 30);
    }

    private static List<String> forkArguments() {
        List<String> arguments = new ArrayList<>(List.of(
                "--enable-native-access=ALL-UNNAMED",
                "-Xmx1g",
                "-XX:MaxDirectMemorySize=2g",
                // Netty keeps freed buffers of these sizes at hand for any thread, as malloc does.
                "-Dio.netty.allocator.useCacheForAllThreads=true",
                "-Dio.netty.allocator.maxCachedBufferCapacity=1048576"));
        if (Runtime.version().feature() >= FIRST_JDK_THAT_WARNS_OF_UNSAFE) {
            arguments.add("--sun-misc-unsafe-memory-access=allow");
        }
        return arguments;
    }
}
