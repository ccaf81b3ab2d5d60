package io.kvtier.cli;

import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import tools.jackson.core.JsonGenerator;

/** Says what of this machine kvtier can use, and what to do about the rest. */
@Command(
        name = "doctor",
        description = "Says what of this machine kvtier can use, and what to do about the rest.",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        exitCodeListHeading = ExitCodes.HEADING,
        exitCodeList = {
            ExitCodes.DONE_TEXT,
            ExitCodes.FAILED_TEXT,
            ExitCodes.WRONG_INPUT_TEXT,
            "3:something that --require names is missing"
        })
final class DoctorCommand implements Callable<Integer> {
    @Spec
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Option(names = "--dir", paramLabel = "DIR", description = "A folder to look at: space, file system, direct I/O.")
    private List<Path> folders = new ArrayList<>();

    @Option(
            names = "--require",
            paramLabel = "NAME",
            split = ",",
            description = "End with exit code 3 unless these are there: jdk, cuda, cufile, nixl, disks.")
    private List<String> required = new ArrayList<>();

    @Option(names = "--json", description = "Print one JSON object.")
    private boolean json;

    @Override
    public Integer call() {
        List<Examination> examinations = List.of(
                new JdkExamination(),
                new CpuExamination(),
                new MemoryExamination(),
                new CudaExamination(),
                new CuFileExamination(),
                new NixlExamination(),
                new DiskExamination(folders));
        List<String> missing = missing(examinations);
        if (json) {
            JsonReport.print(System.out, generator -> write(examinations, generator));
        } else {
            print(examinations, System.out);
        }
        if (!missing.isEmpty()) {
            System.err.println("kvtier: required but missing: " + String.join(", ", missing));
            return ExitCodes.MISSING;
        }
        return 0;
    }

    private List<String> missing(List<Examination> examinations) {
        List<String> missing = new ArrayList<>();
        for (String name : required) {
            Examination asked = examinations.stream()
                    .filter(examination -> examination.name().equals(name))
                    .findFirst()
                    .orElseThrow(() -> new ParameterException(
                            spec.commandLine(),
                            "--require knows "
                                    + String.join(
                                            ", ",
                                            examinations.stream()
                                                    .map(Examination::name)
                                                    .toList())
                                    + "; got '" + name + "'"));
            if (!asked.available()) {
                missing.add(name);
            }
        }
        return missing;
    }

    private static void write(List<Examination> examinations, JsonGenerator generator) {
        for (Examination examination : examinations) {
            generator.writeName(examination.name());
            examination.write(generator);
        }
    }

    private static void print(List<Examination> examinations, PrintStream out) {
        List<Finding> findings =
                examinations.stream().flatMap(part -> part.findings().stream()).toList();
        int width = findings.stream()
                .mapToInt(finding -> finding.topic().length())
                .max()
                .orElse(0);
        for (Finding finding : findings) {
            String mark = finding.good() ? "ok" : "--";
            out.printf(Locale.ROOT, "%s  %-" + width + "s  %s%n", mark, finding.topic(), finding.fact());
            if (!finding.advice().isEmpty()) {
                out.printf(Locale.ROOT, "    %-" + width + "s  -> %s%n", "", finding.advice());
            }
        }
    }
}
