package io.kvtier.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DoctorCommandTest {
    @TempDir
    Path folder;

    @Test
    void tableNamesEveryPart() {
        CommandRun run = CommandRun.of("doctor", "--dir", folder.toString());
        assertThat(run.exitCode()).isZero();
        assertThat(run.out())
                .contains("JDK", "native access", "CPU features", "huge pages", "CUDA runtime", "cuFile", "NIXL")
                .contains(folder.toString());
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void jsonHasTheAgreedKeys() {
        CommandRun run = CommandRun.of("doctor", "--json", "--dir", folder.toString());
        assertThat(run.exitCode()).isZero();
        assertThat(run.out())
                .contains("\"jdk\":{", "\"cpu\":{", "\"memory\":{", "\"cuda\":{", "\"cufile\":{", "\"nixl\":{")
                .contains("\"disks\":[{", "\"direct_io\":", "\"plugins\":[");
    }

    @Test
    void requiredButMissingEndsWith3AndNamesIt() {
        CommandRun run = CommandRun.of(
                "doctor",
                "--require",
                "jdk,disks",
                "--dir",
                folder.resolve("no").toString());
        assertThat(run.exitCode()).isEqualTo(3);
        assertThat(run.err()).contains("required but missing: disks").doesNotContain("jdk");
    }

    @Test
    void unknownRequirementListsTheKnownOnes() {
        CommandRun run = CommandRun.of("doctor", "--require", "gpu");
        assertThat(run.exitCode()).isEqualTo(2);
        assertThat(run.err()).contains("jdk, cpu, memory, cuda, cufile, nixl, disks; got 'gpu'");
    }
}
