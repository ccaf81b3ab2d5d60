package io.kvtier.cli;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/** One run of the command in this process: its exit code and what it printed. */
record CommandRun(int exitCode, String out, String err) {
    static CommandRun of(String... args) {
        PrintStream out = System.out;
        PrintStream err = System.err;
        ByteArrayOutputStream outBytes = new ByteArrayOutputStream();
        ByteArrayOutputStream errBytes = new ByteArrayOutputStream();
        try {
            System.setOut(new PrintStream(outBytes, true, StandardCharsets.UTF_8));
            System.setErr(new PrintStream(errBytes, true, StandardCharsets.UTF_8));
            int code = KvtierCommand.commandLine()
                    .setErr(new PrintWriter(System.err, true))
                    .setOut(new PrintWriter(System.out, true))
                    .execute(args);
            return new CommandRun(
                    code, outBytes.toString(StandardCharsets.UTF_8), errBytes.toString(StandardCharsets.UTF_8));
        } finally {
            System.setOut(out);
            System.setErr(err);
        }
    }

    /** Returns the fields of the JSON object that was printed; arrays of numbers as lists. */
    Map<String, Object> json() {
        Map<String, Object> fields = new HashMap<>();
        try (JsonParser parser = new JsonFactory().createParser(ObjectReadContext.empty(), out)) {
            parser.nextToken();
            while (parser.nextToken() == JsonToken.PROPERTY_NAME) {
                String name = parser.currentName();
                fields.put(name, value(parser, parser.nextToken()));
            }
        }
        return fields;
    }

    long number(String field) {
        return ((Number) json().get(field)).longValue();
    }

    private static Object value(JsonParser parser, JsonToken token) {
        return switch (token) {
            case VALUE_NUMBER_INT -> parser.getLongValue();
            case VALUE_NUMBER_FLOAT -> parser.getDoubleValue();
            case START_ARRAY -> array(parser);
            default -> parser.getString();
        };
    }

    private static List<Object> array(JsonParser parser) {
        List<Object> values = new ArrayList<>();
        for (JsonToken token = parser.nextToken(); token != JsonToken.END_ARRAY; token = parser.nextToken()) {
            values.add(value(parser, token));
        }
        return values;
    }
}
