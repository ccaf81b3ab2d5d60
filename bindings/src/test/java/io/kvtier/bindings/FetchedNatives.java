package io.kvtier.bindings;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Gets the native libraries once; where that cannot be, the tests that need them are skipped and say why. */
public final class FetchedNatives implements BeforeAllCallback {
    private static final String PROBLEM = fetch();

    @Override
    public void beforeAll(ExtensionContext context) {
        assumeTrue(PROBLEM.isEmpty(), PROBLEM);
    }

    private static String fetch() {
        try {
            Process process = new ProcessBuilder(
                            Path.of("..", "scripts", "fetch-natives").toString(), "--cuda", "12")
                    .redirectErrorStream(true)
                    .start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return process.waitFor() == 0 ? "" : "the native libraries could not be fetched: " + output;
        } catch (IOException e) {
            return "scripts/fetch-natives could not be started: " + e;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "interrupted while fetching the native libraries";
        }
    }
}
