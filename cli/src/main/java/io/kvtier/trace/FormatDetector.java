package io.kvtier.trace;

import java.io.IOException;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;

/** Tells the format of a file by the fields of its first good line. */
final class FormatDetector {
    private static final int MOST_FIELDS_SHOWN = 8;
    private static final String KNOWN = """
            known are Mooncake ("hash_ids" with an array), Claude Code sessions ("requests") \
            and RAGPulse ("hash_ids" with an object)""";

    private @Nullable Known found;

    /** The formats there are. */
    enum Known {
        MOONCAKE,
        CLAUDE_CODE,
        RAGPULSE
    }

    private FormatDetector() {}

    /** Moves to the first line of a known format, which is still to be read as such. */
    static Known find(LineFeed feed) throws IOException {
        FormatDetector detector = new FormatDetector();
        while (feed.next()) {
            feed.offer(detector::inspect);
            if (detector.found != null) {
                return detector.found;
            }
        }
        throw feed.nothingFound();
    }

    private void inspect(JsonLine json) throws BadLineException {
        try {
            json.openLine();
            found = search(json);
        } catch (JacksonException e) {
            throw new BadLineException(LineFeed.reason(e) + "; " + KNOWN);
        }
    }

    private static Known search(JsonLine json) throws BadLineException {
        StringJoiner fields = new StringJoiner(", ");
        int shown = 0;
        for (String field = json.field(); field != null; field = json.field()) {
            Known known = byField(field, json);
            if (known != null) {
                return known;
            }
            if (shown++ < MOST_FIELDS_SHOWN) {
                fields.add(Excerpt.of(field));
            }
            json.skip();
        }
        throw new BadLineException("unknown format: found an object with the fields [" + fields + "]; " + KNOWN);
    }

    private static @Nullable Known byField(String field, JsonLine json) {
        return switch (field) {
            case "hash_ids" -> json.isObject() ? Known.RAGPULSE : Known.MOONCAKE;
            case "requests" -> Known.CLAUDE_CODE;
            default -> null;
        };
    }
}
