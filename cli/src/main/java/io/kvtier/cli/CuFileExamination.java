package io.kvtier.cli;

import io.kvtier.bindings.Availability;
import io.kvtier.bindings.cufile.CuFile;
import io.kvtier.bindings.cufile.IoPath;
import java.util.List;
import java.util.Locale;
import tools.jackson.core.JsonGenerator;

/** cuFile and what stands in the way of direct transfers between device and disk. */
final class CuFileExamination implements Examination {
    private final Availability availability = CuFile.availability();
    private final IoPath path = CuFile.ioPath();

    @Override
    public String name() {
        return "cufile";
    }

    @Override
    public boolean available() {
        return availability.isAvailable();
    }

    @Override
    public List<Finding> findings() {
        Finding library = Availabilities.finding("cuFile", availability);
        return availability.isAvailable() ? List.of(library, way()) : List.of(library);
    }

    private Finding way() {
        String reasons = String.join("; ", path.reasons());
        return switch (path.mode()) {
            case DIRECT -> Finding.good("GPUDirect", "nothing speaks against it");
            case COMPAT -> Finding.missing("GPUDirect", "not direct, through host memory", reasons);
            case NONE -> Finding.missing("GPUDirect", "not usable", reasons);
        };
    }

    @Override
    public void write(JsonGenerator json) {
        json.writeStartObject();
        json.writeBooleanProperty("available", availability.isAvailable());
        json.writeName("library");
        Availabilities.write(json, availability);
        json.writeBooleanProperty("direct", path.isDirect());
        json.writeStringProperty("path", path.mode().name().toLowerCase(Locale.ROOT));
        json.writeName("obstacles").writeStartArray();
        path.reasons().forEach(json::writeString);
        json.writeEndArray();
        json.writeEndObject();
    }
}
