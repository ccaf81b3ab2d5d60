package io.kvtier.cli;

import io.kvtier.bindings.Availability;
import java.util.List;
import tools.jackson.core.JsonGenerator;

/** The running JDK and whether it lets kvtier call native code. */
final class JdkExamination implements Examination {
    private final String version = Runtime.version().toString();
    private final String vendor = System.getProperty("java.vendor", "unknown vendor");
    private final boolean nativeAccess = Availability.class.getModule().isNativeAccessEnabled();

    @Override
    public String name() {
        return "jdk";
    }

    @Override
    public boolean available() {
        return nativeAccess;
    }

    @Override
    public List<Finding> findings() {
        Finding access = nativeAccess
                ? Finding.good("native access", "enabled")
                : Finding.missing(
                        "native access",
                        "not enabled",
                        "start the JVM with --enable-native-access=io.kvtier.bindings (class path: ALL-UNNAMED)");
        return List.of(Finding.good("JDK", version + ", " + vendor), access);
    }

    @Override
    public void write(JsonGenerator json) {
        json.writeStartObject();
        json.writeStringProperty("version", version);
        json.writeStringProperty("vendor", vendor);
        json.writeBooleanProperty("native_access", nativeAccess);
        json.writeEndObject();
    }
}
