package io.kvtier.llama;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.json.JsonFactory;

/** What an independent float64 program computed: a greedy run of 256 steps from the start token alone. */
final class Reference {
    /** Number of tokens fed. */
    static final int STEPS = 256;

    private static final Map<?, ?> RUN = (Map<?, ?>) json(resource("reference.json"));
    private static final ByteBuffer TENSORS =
            ByteBuffer.wrap(resource("kv_greedy256.safetensors")).order(ByteOrder.LITTLE_ENDIAN);
    private static final int HEADER_BYTES = Math.toIntExact(TENSORS.getLong(0));
    private static final Map<?, ?> TENSOR_HEADER = (Map<?, ?>) json(tensorHeader());

    private Reference() {}

    /** Returns the 256 tokens fed and the one predicted last. */
    static int[] ids() {
        double[] ids = numbers(RUN, "ids");
        int[] tokens = new int[ids.length];
        for (int i = 0; i < ids.length; i++) {
            tokens[i] = (int) ids[i];
        }
        return tokens;
    }

    static String text() {
        return (String) value(RUN, "text");
    }

    /** Returns a number of the run or of an element of one of its lists. */
    static double number(Map<?, ?> object, String key) {
        return ((Number) value(object, key)).doubleValue();
    }

    static double number(String key) {
        return number(RUN, key);
    }

    static double[] numbers(String key) {
        return numbers(RUN, key);
    }

    static double[] numbers(Map<?, ?> object, String key) {
        List<?> list = (List<?>) value(object, key);
        return list.stream().mapToDouble(n -> ((Number) n).doubleValue()).toArray();
    }

    static List<? extends Map<?, ?>> objects(String key) {
        List<?> list = (List<?>) value(RUN, key);
        return list.stream().<Map<?, ?>>map(o -> (Map<?, ?>) o).toList();
    }

    /** Returns tensor {@code layers.N.k} or {@code layers.N.v}, {@code [256][kvHeads * headSize]}. */
    static float[] tensor(int layer, int plane) {
        Map<?, ?> tensor = (Map<?, ?>) value(TENSOR_HEADER, "layers." + layer + (plane == 0 ? ".k" : ".v"));
        assertThat(value(tensor, "dtype")).isEqualTo("F32");
        double[] offsets = numbers(tensor, "data_offsets");
        float[] floats = new float[(int) (offsets[1] - offsets[0]) / Float.BYTES];
        TENSORS.slice(Long.BYTES + HEADER_BYTES + (int) offsets[0], floats.length * Float.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .asFloatBuffer()
                .get(floats);
        return floats;
    }

    private static byte[] tensorHeader() {
        byte[] header = new byte[HEADER_BYTES];
        TENSORS.get(Long.BYTES, header);
        return header;
    }

    private static Object value(Map<?, ?> object, String key) {
        Object value = object.get(key);
        assertThat(value).as(key).isNotNull();
        return value;
    }

    private static byte[] resource(String name) {
        try (InputStream in = Reference.class.getResourceAsStream(name)) {
            assertThat(in).as(name).isNotNull();
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Object json(byte[] text) {
        try (JsonParser parser = new JsonFactory().createParser(ObjectReadContext.empty(), text)) {
            return json(parser, parser.nextToken());
        }
    }

    private static Object json(JsonParser parser, JsonToken token) {
        return switch (token) {
            case START_OBJECT -> {
                Map<String, Object> object = new LinkedHashMap<>();
                while (parser.nextToken() != JsonToken.END_OBJECT) {
                    object.put(parser.currentName(), json(parser, parser.nextToken()));
                }
                yield object;
            }
            case START_ARRAY -> {
                List<Object> list = new ArrayList<>();
                for (JsonToken t = parser.nextToken(); t != JsonToken.END_ARRAY; t = parser.nextToken()) {
                    list.add(json(parser, t));
                }
                yield list;
            }
            case VALUE_STRING -> parser.getString();
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> parser.getDoubleValue();
            default -> throw new IllegalArgumentException("unexpected " + token);
        };
    }
}
