package io.kvtier.cli;

import java.util.List;
import tools.jackson.core.JsonGenerator;

/** The processor and those of its abilities that kvtier's speed hangs on. */
final class CpuExamination implements Examination {
    private static final List<String> WANTED = List.of("avx2", "avx512f", "sse4_2", "pclmulqdq", "sha_ni", "aes");
    private static final List<String> WANTED_ON_ARM = List.of("asimd", "crc32", "sha2", "aes", "pmull", "sve");

    private final String model =
            SystemFiles.value("/proc/cpuinfo", "model name").orElse(System.getProperty("os.arch"));
    private final int processors = Runtime.getRuntime().availableProcessors();
    private final List<String> present;
    private final List<String> absent;

    CpuExamination() {
        boolean arm = System.getProperty("os.arch").equals("aarch64");
        String flags = " "
                + SystemFiles.value("/proc/cpuinfo", arm ? "Features" : "flags").orElse("") + " ";
        List<String> wanted = arm ? WANTED_ON_ARM : WANTED;
        present =
                wanted.stream().filter(flag -> flags.contains(" " + flag + " ")).toList();
        absent = wanted.stream()
                .filter(flag -> !flags.contains(" " + flag + " "))
                .toList();
    }

    @Override
    public String name() {
        return "cpu";
    }

    @Override
    public boolean available() {
        return true;
    }

    @Override
    public List<Finding> findings() {
        Finding cpu = Finding.good("CPU", model + ", " + processors + " processors");
        String has = present.isEmpty() ? "none known" : String.join(" ", present);
        return List.of(
                cpu,
                absent.isEmpty()
                        ? Finding.good("CPU features", has)
                        : new Finding(
                                "CPU features",
                                has,
                                true,
                                "without " + String.join(", ", absent) + " checksums and hashes may be slower"));
    }

    @Override
    public void write(JsonGenerator json) {
        json.writeStartObject();
        json.writeStringProperty("model", model);
        json.writeNumberProperty("processors", processors);
        writeAll(json, "features", present);
        writeAll(json, "missing_features", absent);
        json.writeEndObject();
    }

    private static void writeAll(JsonGenerator json, String name, List<String> values) {
        json.writeName(name).writeStartArray();
        values.forEach(json::writeString);
        json.writeEndArray();
    }
}
