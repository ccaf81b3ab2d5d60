package io.kvtier.bindings.cufile;

import io.kvtier.bindings.Availability;
import io.kvtier.bindings.internal.ChildProbe;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;

/**
 * Whether the driver may be opened. The open spins for ever on a kernel without loadable modules and is of unknown ground
 * elsewhere, so it is tried once in a process of its own before the first real one.
 */
final class DriverGuard {
    /** Seconds that the trial may take; 0 leaves all looking and trying out. */
    private static final String SECONDS = "kvtier.cufile.probeSeconds";

    private static final int DEFAULT_SECONDS = 15;
    private static final Path MODULES = Path.of("/proc/modules");
    private static final Object LOCK = new Object();
    private static ChildProbe.Result trial = new ChildProbe.Result.CouldNotStart("not yet");

    private DriverGuard() {}

    /** Returns why the driver must not be opened, by a look only. */
    static Optional<String> refusal() {
        if (CuFile.availability() instanceof Availability.Absent absent) {
            return Optional.of(absent.reason());
        }
        return seconds() == 0 || Files.isReadable(MODULES)
                ? Optional.empty()
                : Optional.of("the kernel has no loadable modules (" + MODULES
                        + " is not readable), so opening cuFile's driver would never return");
    }

    /** Throws unless an open of the driver was seen to return with success. */
    static void require() {
        Optional<String> problem = refusal().or(DriverGuard::triedOnce);
        if (problem.isPresent()) {
            throw new IllegalStateException("cuFile's driver cannot be opened: " + problem.get());
        }
    }

    private static Optional<String> triedOnce() {
        int seconds = seconds();
        if (seconds == 0) {
            return Optional.empty();
        }
        synchronized (LOCK) {
            if (trial instanceof ChildProbe.Result.CouldNotStart) {
                trial = ChildProbe.run(DriverProbe.class, Duration.ofSeconds(seconds));
            }
            return trial.problem()
                    .map(problem -> "a trial in a process of its own " + problem + "; the property " + SECONDS
                            + " allows it more time, 0 leaves the trial out");
        }
    }

    private static int seconds() {
        int seconds = Integer.getInteger(SECONDS, DEFAULT_SECONDS);
        if (seconds < 0) {
            throw new IllegalArgumentException(
                    "the property " + SECONDS + " is " + seconds + ", it must not be negative");
        }
        return seconds;
    }
}
