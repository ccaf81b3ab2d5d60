package io.kvtier.cli;

import io.kvtier.bindings.cuda.Cuda;
import java.util.List;
import tools.jackson.core.JsonGenerator;

/** The CUDA runtime and devices. */
final class CudaExamination implements Examination {
    @Override
    public String name() {
        return "cuda";
    }

    @Override
    public boolean available() {
        return Cuda.devices().isAvailable();
    }

    @Override
    public List<Finding> findings() {
        return List.of(
                Availabilities.finding("CUDA runtime", Cuda.runtime()),
                Availabilities.finding("CUDA devices", Cuda.devices()));
    }

    @Override
    public void write(JsonGenerator json) {
        json.writeStartObject();
        json.writeBooleanProperty("available", available());
        json.writeName("runtime");
        Availabilities.write(json, Cuda.runtime());
        json.writeName("devices");
        Availabilities.write(json, Cuda.devices());
        json.writeEndObject();
    }
}
