package io.kvtier.cli;

import java.io.PrintStream;
import java.io.StringWriter;
import java.util.function.Consumer;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.ObjectWriteContext;
import tools.jackson.core.json.JsonFactory;

/** Prints one JSON object on one line. */
final class JsonReport {
    private JsonReport() {}

    static void print(PrintStream out, Consumer<JsonGenerator> fields) {
        StringWriter text = new StringWriter();
        try (JsonGenerator json = new JsonFactory().createGenerator(ObjectWriteContext.empty(), text)) {
            json.writeStartObject();
            fields.accept(json);
            json.writeEndObject();
        }
        out.println(text);
    }
}
