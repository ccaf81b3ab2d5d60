package io.kvtier.bindings.cufile;

import io.kvtier.bindings.Availability;
import io.kvtier.bindings.cuda.Cuda;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Finds what keeps cuFile from the direct way. */
final class Obstacles {
    private Obstacles() {}

    /** Looks at the machine and the configuration. */
    static IoPath look() {
        Optional<String> refusal = DriverGuard.refusal();
        List<String> reasons = new ArrayList<>(refusal.stream().toList());
        if (CuFile.availability().isAvailable()) {
            reasons.addAll(ofMachine());
            reasons.addAll(ofConfiguration(ConfigFile.inUse()));
        }
        return refusal.isPresent() ? new IoPath(IoPath.Mode.NONE, reasons) : path(reasons, ConfigFile.inUse());
    }

    /** Asks the open driver: it alone knows what its kernel module serves. */
    static IoPath of(DriverProperties properties) {
        ConfigFile config = ConfigFile.inUse();
        List<String> reasons = new ArrayList<>(ofConfiguration(config));
        if (properties.statusFlags() == 0) {
            reasons.addAll(ofMachine());
            reasons.add("the driver reports no kind of storage that it serves directly");
        }
        if (reasons.isEmpty() || properties.allowsCompatMode()) {
            return new IoPath(reasons.isEmpty() ? IoPath.Mode.DIRECT : IoPath.Mode.COMPAT, reasons);
        }
        reasons.add("the driver does not allow compatibility mode");
        return new IoPath(IoPath.Mode.NONE, reasons);
    }

    private static IoPath path(List<String> reasons, ConfigFile config) {
        if (reasons.isEmpty()) {
            return new IoPath(IoPath.Mode.DIRECT, reasons);
        }
        Optional<Boolean> allowed = variable("CUFILE_ALLOW_COMPAT_MODE").or(() -> config.flag("allow_compat_mode"));
        if (allowed.orElse(true)) {
            return new IoPath(IoPath.Mode.COMPAT, reasons);
        }
        reasons.add("compatibility mode is not allowed, see allow_compat_mode in " + config.path()
                + " and the variable CUFILE_ALLOW_COMPAT_MODE");
        return new IoPath(IoPath.Mode.NONE, reasons);
    }

    private static List<String> ofConfiguration(ConfigFile config) {
        if (variable("CUFILE_FORCE_COMPAT_MODE").orElse(false)) {
            return List.of("the variable CUFILE_FORCE_COMPAT_MODE forces compatibility mode");
        }
        return config.flag("force_compat_mode").orElse(false)
                ? List.of("force_compat_mode in " + config.path() + " forces compatibility mode")
                : List.of();
    }

    private static List<String> ofMachine() {
        List<String> reasons = new ArrayList<>();
        if (Cuda.devices() instanceof Availability.Absent absent) {
            reasons.add(absent.reason());
        }
        if (Files.isReadable(Path.of("/proc/modules")) && !contains("/proc/modules", "nvidia_fs")) {
            reasons.add("the kernel module nvidia-fs is not loaded");
        }
        if (!Files.isReadable(Path.of("/run/udev"))) {
            reasons.add("/run/udev is missing or not readable; in a container, mount it");
        }
        if (contains("/proc/version", "microsoft")) {
            reasons.add("WSL has no GPUDirect Storage");
        }
        return reasons;
    }

    private static boolean contains(String file, String text) {
        try {
            return Files.readString(Path.of(file)).toLowerCase(Locale.ROOT).contains(text);
        } catch (IOException e) {
            return false;
        }
    }

    private static Optional<Boolean> variable(String name) {
        return Optional.ofNullable(System.getenv(name))
                .map(value -> value.equalsIgnoreCase("true") || value.equals("1"));
    }
}
