package io.kvtier.bindings.nixl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kvtier.bindings.ChildJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that pretend to be NIXL: each in a process of its own, since a library is looked for once. */
class NixlAvailabilityTest {
    @TempDir
    Path folder;

    @Test
    void libraryWithoutAFunctionIsNamedWithIt() throws Exception {
        String all = Nixl.required().stream()
                .filter(symbol -> !symbol.equals("nixl_capi_post_xfer_req"))
                .map(symbol -> "int " + symbol + "(void) { return -2; }")
                .collect(Collectors.joining("\n"));
        Path library = compile(all);
        assertThat(report(library))
                .contains(library + " lacks nixl_capi_post_xfer_req; kvtier needs NIXL 1.4 or newer");
    }

    @Test
    void libraryThatIsAnotherOneIsRefused() throws Exception {
        assertThat(report(compile("int other(void) { return 1; }")))
                .contains("lacks nixl_capi_create_configured_agent, ");
    }

    @Test
    void textFileIsRefused() throws Exception {
        Path text = Files.writeString(folder.resolve("text.so"), "not a library, but some text that is long enough");
        assertThat(report(text)).contains(text + " is no library").contains("named by kvtier.nixl.path");
    }

    @Test
    void pathThatIsWrongIsNotReplaced() throws Exception {
        assertThat(report(folder.resolve("nowhere.so")))
                .contains("nowhere.so was not found")
                .contains("named by kvtier.nixl.path");
    }

    private static String report(Path library) throws Exception {
        try (ChildJvm child = ChildJvm.start(NixlReport.class, List.of("-Dkvtier.nixl.path=" + library))) {
            String availability = child.hear("availability ");
            child.hear("end");
            assertThat(child.exitCode()).isZero();
            assertThat(availability).startsWith("NIXL is not available: ");
            return availability;
        }
    }

    private Path compile(String source) throws IOException, InterruptedException {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/gcc")), "gcc is not installed");
        Path file = Files.writeString(folder.resolve("pretender.c"), source);
        Path library = folder.resolve("libpretender.so");
        Process process = new ProcessBuilder("gcc", "-shared", "-fPIC", "-o", library.toString(), file.toString())
                .inheritIO()
                .start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).isZero();
        return library;
    }
}
