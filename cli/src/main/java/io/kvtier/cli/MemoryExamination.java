package io.kvtier.cli;

import java.util.List;
import tools.jackson.core.JsonGenerator;

/** Memory, huge pages and how much of it may be locked. */
final class MemoryExamination implements Examination {
    private final long totalKib = kib("MemTotal");
    private final long availableKib = kib("MemAvailable");
    private final String hugePages =
            SystemFiles.value("/proc/meminfo", "HugePages_Total").orElse("0");
    private final long hugePageKib = kib("Hugepagesize");
    private final String transparent = SystemFiles.lines("/sys/kernel/mm/transparent_hugepage/enabled").stream()
            .findFirst()
            .orElse("not there");
    private final String memlock = SystemFiles.value("/proc/self/limits", "Max locked memory")
            .map(SystemFiles::firstWord)
            .orElse("unknown");

    @Override
    public String name() {
        return "memory";
    }

    @Override
    public boolean available() {
        return true;
    }

    @Override
    public List<Finding> findings() {
        Finding memory = Finding.good("memory", totalKib / 1024 + " MiB, " + availableKib / 1024 + " MiB available");
        Finding huge = new Finding(
                "huge pages",
                hugePages + " reserved of " + hugePageKib + " KiB; transparent: " + transparent,
                true,
                transparent.contains("[never]") && hugePages.equals("0")
                        ? "set /sys/kernel/mm/transparent_hugepage/enabled to madvise for faster large copies"
                        : "");
        Finding locked = memlock.equals("unlimited")
                ? Finding.good("locked memory", "unlimited")
                : new Finding("locked memory", memlock + " bytes", true, "raise it (ulimit -l) to pin more memory");
        return List.of(memory, huge, locked);
    }

    @Override
    public void write(JsonGenerator json) {
        json.writeStartObject();
        json.writeNumberProperty("total_bytes", totalKib * 1024);
        json.writeNumberProperty("available_bytes", availableKib * 1024);
        json.writeStringProperty("huge_pages", hugePages);
        json.writeNumberProperty("huge_page_bytes", hugePageKib * 1024);
        json.writeStringProperty("transparent_huge_pages", transparent);
        json.writeStringProperty("memlock_limit", memlock);
        json.writeEndObject();
    }

    private static long kib(String key) {
        return SystemFiles.value("/proc/meminfo", key)
                .map(value -> Long.parseLong(SystemFiles.firstWord(value)))
                .orElse(0L);
    }
}
