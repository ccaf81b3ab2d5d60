package io.kvtier.cli;

import io.kvtier.bindings.Availability;
import io.kvtier.bindings.posix.DirectIo;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.core.JsonGenerator;

/** The folders given: space, file system, and whether direct I/O works there. */
final class DiskExamination implements Examination {
    private record Disk(Path folder, String type, long free, long block, String direct) {}

    private record Unusable(Path folder, String reason) {}

    private final List<Disk> disks = new ArrayList<>();
    private final List<Unusable> unusable = new ArrayList<>();

    DiskExamination(List<Path> folders) {
        for (Path folder : folders) {
            try {
                FileStore store = Files.getFileStore(folder);
                disks.add(new Disk(
                        folder, store.type(), store.getUsableSpace(), store.getBlockSize(), tryDirect(folder, store)));
            } catch (IOException e) {
                unusable.add(new Unusable(folder, e.toString()));
            }
        }
    }

    @Override
    public String name() {
        return "disks";
    }

    @Override
    public boolean available() {
        return unusable.isEmpty();
    }

    @Override
    public List<Finding> findings() {
        List<Finding> findings = new ArrayList<>();
        for (Disk disk : disks) {
            String fact = disk.type() + ", " + disk.free() / (1 << 20) + " MiB free, blocks of " + disk.block();
            findings.add(
                    disk.direct().isEmpty()
                            ? Finding.good(disk.folder().toString(), fact + ", O_DIRECT works")
                            : new Finding(
                                    disk.folder().toString(),
                                    fact + ", no O_DIRECT",
                                    true,
                                    "reads and writes go through the page cache (" + disk.direct() + ")"));
        }
        for (Unusable disk : unusable) {
            findings.add(Finding.missing(
                    disk.folder().toString(), "not usable", disk.reason() + "; name a folder that can be written to"));
        }
        return findings;
    }

    @Override
    public void write(JsonGenerator json) {
        json.writeStartArray();
        for (Disk disk : disks) {
            json.writeStartObject();
            json.writeStringProperty("folder", disk.folder().toString());
            json.writeStringProperty("file_system", disk.type());
            json.writeNumberProperty("free_bytes", disk.free());
            json.writeNumberProperty("block_bytes", disk.block());
            json.writeBooleanProperty("direct_io", disk.direct().isEmpty());
            json.writeEndObject();
        }
        for (Unusable disk : unusable) {
            json.writeStartObject();
            json.writeStringProperty("folder", disk.folder().toString());
            json.writeStringProperty("reason", disk.reason());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    /** Writes and reads one block past the page cache; returns why that does not work, or nothing. */
    private static String tryDirect(Path folder, FileStore store) throws IOException {
        Path file = Files.createTempFile(folder, ".kvtier-doctor", ".tmp");
        try {
            return switch (DirectIo.probe(file, Math.toIntExact(Math.max(4096, store.getBlockSize())))) {
                case Availability.Present _ -> "";
                case Availability.Absent(String _, String reason) -> reason;
            };
        } finally {
            Files.deleteIfExists(file);
        }
    }
}
