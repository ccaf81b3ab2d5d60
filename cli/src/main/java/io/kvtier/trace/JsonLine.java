package io.kvtier.trace;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;

/** One line of JSON, read field by field; each value is checked as it is read. */
final class JsonLine implements AutoCloseable {
    /** From here on a double skips whole numbers, so that two times could not be told apart. */
    private static final double LATEST_TIME = 0x1p53;

    private static final int UNSIGNED_LONG_DIGITS = 20;
    private static final int LONGEST_TIME_TEXT = 40;
    private static final JsonFactory FACTORY = JsonFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();

    private final JsonParser parser;

    JsonLine(byte[] bytes, int offset, int length) {
        parser = FACTORY.createParser(ObjectReadContext.empty(), bytes, offset, length);
    }

    /** Enters the object that the whole line must be. */
    void openLine() throws BadLineException {
        parser.nextToken();
        if (parser.currentToken() != JsonToken.START_OBJECT) {
            throw new BadLineException("the line must be a JSON object, not " + described());
        }
    }

    /** Checks that nothing follows the line's object. */
    void closeLine() throws BadLineException {
        if (parser.nextToken() != null) {
            throw new BadLineException("the line goes on after its JSON object, with " + described());
        }
    }

    /** Moves to the next field's value and returns the field's name, or null at the end of the object. */
    @Nullable
    String field() {
        String name = parser.nextName();
        if (name != null) {
            parser.nextToken();
        }
        return name;
    }

    /** Enters the object that the value must be. */
    void openObject(String field) throws BadLineException {
        expect(JsonToken.START_OBJECT, field, "an object");
    }

    /** Enters the array that the value must be. */
    void openArray(String field) throws BadLineException {
        expect(JsonToken.START_ARRAY, field, "an array");
    }

    /** Moves to the next element of an array; false at its end. */
    boolean element() {
        return parser.nextToken() != JsonToken.END_ARRAY;
    }

    boolean isObject() {
        return parser.currentToken() == JsonToken.START_OBJECT;
    }

    /** Leaves the value out, whatever it is. */
    void skip() {
        parser.skipChildren();
    }

    String text(String field) throws BadLineException {
        expect(JsonToken.VALUE_STRING, field, "a text");
        return parser.getString();
    }

    /** Reads a number of tokens: whole, not negative and an int. */
    int count(String field) throws BadLineException {
        expect(JsonToken.VALUE_NUMBER_INT, field, "a whole number");
        if (parser.getNumberType() != JsonParser.NumberType.INT || parser.getIntValue() < 0) {
            throw wrong(field, "a number from 0 to " + Integer.MAX_VALUE);
        }
        return parser.getIntValue();
    }

    /** Reads a point in time in the trace's own unit. */
    double time(String field) throws BadLineException {
        if (!parser.currentToken().isNumeric()) {
            throw wrong(field, "a number");
        }
        return inRange(parser.getDoubleValue(), field);
    }

    /** Reads a point in time that may be a number in quotes. */
    double timeOrText(String field) throws BadLineException {
        return parser.currentToken() == JsonToken.VALUE_STRING ? timeText(field) : time(field);
    }

    /** Reads an array of ids: numbers of up to 64 bits that are not negative. */
    void ids(String field, LongList ids) throws BadLineException {
        openArray(field);
        while (element()) {
            ids.add(id(field));
        }
    }

    long id(String field) throws BadLineException {
        expect(JsonToken.VALUE_NUMBER_INT, field, "a whole number");
        if (parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
            return wideId(field);
        }
        long id = parser.getLongValue();
        if (id < 0) {
            throw wrongId(field);
        }
        return id;
    }

    /** Fails if a field that must be there is not. */
    static void require(boolean present, String field) throws BadLineException {
        if (!present) {
            throw new BadLineException("the field \"" + field + "\" is missing");
        }
    }

    /** Returns what the current value is, short enough for a message. */
    String described() {
        return switch (parser.currentToken()) {
            case START_OBJECT -> "an object";
            case START_ARRAY -> "an array";
            case VALUE_STRING -> "the text \"" + Excerpt.of(parser.getString()) + "\"";
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> "the number " + Excerpt.of(parser.getString());
            case null -> "nothing";
            default -> String.valueOf(parser.getString());
        };
    }

    /** Returns the error of a value that is not what its field needs. */
    BadLineException wrong(String field, String expected) {
        int column = parser.currentTokenLocation().getColumnNr();
        return new BadLineException(
                "\"%s\" must be %s, not %s (column %d)".formatted(Excerpt.of(field), expected, described(), column));
    }

    private void expect(JsonToken token, String field, String expected) throws BadLineException {
        if (parser.currentToken() != token) {
            throw wrong(field, expected);
        }
    }

    private double timeText(String field) throws BadLineException {
        String text = parser.getString().strip();
        if (text.length() > LONGEST_TIME_TEXT || !text.matches("-?[0-9]+(\\.[0-9]*)?([eE][+-]?[0-9]+)?")) {
            throw wrong(field, "a number, in quotes or not");
        }
        return inRange(Double.parseDouble(text), field);
    }

    private double inRange(double time, String field) throws BadLineException {
        if (!(time >= 0 && time <= LATEST_TIME)) {
            throw wrong(field, "a time from 0 to 2^53");
        }
        // Turns -0.0 into 0.0, which sorts like any other zero.
        return time + 0.0;
    }

    private long wideId(String field) throws BadLineException {
        String digits = parser.getString();
        if (digits.length() > UNSIGNED_LONG_DIGITS || digits.startsWith("-")) {
            throw wrongId(field);
        }
        try {
            return Long.parseUnsignedLong(digits);
        } catch (NumberFormatException e) {
            throw wrongId(field);
        }
    }

    private BadLineException wrongId(String field) {
        return wrong(field, "made of ids from 0 to 2^64 - 1");
    }

    @Override
    public void close() {
        parser.close();
    }
}
