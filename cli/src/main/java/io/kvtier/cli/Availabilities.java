package io.kvtier.cli;

import io.kvtier.bindings.Availability;
import tools.jackson.core.JsonGenerator;

/** An availability as a line of the table and as JSON. */
final class Availabilities {
    private Availabilities() {}

    /** A reason ends with what to do, behind a semicolon. */
    static Finding finding(String topic, Availability availability) {
        return switch (availability) {
            case Availability.Present(String _, String location, String version) ->
                Finding.good(topic, version + ", " + location);
            case Availability.Absent(String _, String reason) -> {
                int advice = reason.lastIndexOf("; ");
                yield advice < 0
                        ? Finding.missing(topic, "not available", reason)
                        : Finding.missing(topic, reason.substring(0, advice), reason.substring(advice + 2));
            }
        };
    }

    static void write(JsonGenerator json, Availability availability) {
        json.writeStartObject();
        json.writeBooleanProperty("available", availability.isAvailable());
        switch (availability) {
            case Availability.Present(String _, String location, String version) -> {
                json.writeStringProperty("version", version);
                json.writeStringProperty("location", location);
            }
            case Availability.Absent(String _, String reason) -> json.writeStringProperty("reason", reason);
        }
        json.writeEndObject();
    }
}
