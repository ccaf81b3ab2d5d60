package io.kvtier.bindings.nixl;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvtier.bindings.ChildJvm;
import io.kvtier.bindings.FetchedNatives;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Memory of the process after many operations; each measured in a process of its own. */
@ExtendWith(FetchedNatives.class)
class NixlSteadyStateTest {
    @TempDir
    Path folder;

    /**
     * Two transfers and two prepared lists of 64 descriptors are more than 16 KiB: 10,000 that leaked would be 160 MiB. The
     * JVM's own compiler is what grows by some.
     */
    @Test
    void transfersAndDescriptorListsLeaveNothingBehind() throws Exception {
        assertThat(measure("transfers", "growth ")).isLessThan(32 << 10);
    }

    /** The pool of one agent is more than 4 MiB: 200 that leaked would be 800 MiB. */
    @Test
    void posixAgentsLeaveNothingBehind() throws Exception {
        assertThat(measure("posix", "growth ")).isLessThan(16 << 10);
    }

    @Test
    void ucxAgentsLeaveLittleBehind() throws Exception {
        assertThat(measure("ucx", "growth ")).isLessThan(16 << 10);
    }

    @Test
    void postingAndPollingAllocatesNothing() throws Exception {
        assertThat(measure("allocation", "allocated "))
                .as("bytes for 10,000 rounds")
                .isLessThan(10_000);
    }

    private long measure(String what, String prefix) throws Exception {
        try (ChildJvm child = ChildJvm.start(SteadyState.class, List.of(), what, folder.toString())) {
            String value = child.hear(prefix);
            System.out.println(what + ": " + prefix + value);
            assertThat(child.exitCode()).isZero();
            return Long.parseLong(value);
        }
    }
}
