package io.kvtier.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The kvtier command: finds the subcommand and turns outcomes into exit codes. */
@Command(
        name = "kvtier",
        description = "Keeps the KV cache of LLM inference beyond the engine's own memory.",
        subcommands = {ReplayCommand.class, GenerateCommand.class, DoctorCommand.class, CommandLine.HelpCommand.class},
        mixinStandardHelpOptions = true,
        versionProvider = KvtierCommand.Version.class,
        synopsisSubcommandLabel = "COMMAND",
        exitCodeListHeading = ExitCodes.HEADING,
        exitCodeList = {ExitCodes.DONE_TEXT, ExitCodes.FAILED_TEXT, ExitCodes.WRONG_INPUT_TEXT, ExitCodes.MISSING_TEXT})
public final class KvtierCommand implements Runnable {
    private KvtierCommand() {}

    /** Runs the command and ends the process with its exit code. */
    public static void main(String[] args) {
        System.exit(run(args));
    }

    /** Runs the command and returns its exit code. */
    static int run(String... args) {
        return commandLine().execute(args);
    }

    static CommandLine commandLine() {
        CommandLine commandLine = new CommandLine(new KvtierCommand());
        commandLine.setCaseInsensitiveEnumValuesAllowed(true);
        commandLine.setExecutionExceptionHandler(Failures::handle);
        commandLine.setParameterExceptionHandler(Failures::handleWrongUse);
        commandLine.setUsageHelpAutoWidth(true);
        return commandLine;
    }

    @Override
    public void run() {
        commandLine().usage(System.out);
    }

    /** The version of the build. */
    static final class Version implements CommandLine.IVersionProvider {
        @Override
        public String[] getVersion() {
            String version = KvtierCommand.class.getPackage().getImplementationVersion();
            return new String[] {"kvtier " + (version == null ? "(development build)" : version)};
        }
    }
}
