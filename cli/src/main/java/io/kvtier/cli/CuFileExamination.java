package io.kvtier.cli;

import io.kvtier.bindings.Availability;
import io.kvtier.bindings.cufile.CuFile;
import java.util.List;
import tools.jackson.core.JsonGenerator;

/** cuFile and what stands in the way of direct transfers between device and disk. */
final class CuFileExamination implements Examination {
    private final Availability availability = CuFile.availability();
    private final List<String> obstacles = CuFile.obstacles();

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
        if (!availability.isAvailable()) {
            return List.of(library);
        }
        return List.of(
                library,
                obstacles.isEmpty()
                        ? Finding.good("GPUDirect", "nothing speaks against it")
                        : Finding.missing("GPUDirect", "not direct", String.join("; ", obstacles)));
    }

    @Override
    public void write(JsonGenerator json) {
        json.writeStartObject();
        json.writeBooleanProperty("available", availability.isAvailable());
        json.writeName("library");
        Availabilities.write(json, availability);
        json.writeBooleanProperty("direct", obstacles.isEmpty());
        json.writeName("obstacles").writeStartArray();
        obstacles.forEach(json::writeString);
        json.writeEndArray();
        json.writeEndObject();
    }
}
