package io.kvtier.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

class LineReaderPropertyTest {
    private static final int WINDOW = 1 << 16;
    private static final int LONGEST = 150_000;

    /** Lines of lengths around the window's size, some of them blank and some too long. */
    @Property(tries = 200)
    void findsTheLinesWhereverTheyFallInTheWindow(
            @ForAll("lengths") List<Integer> lengths, @ForAll boolean packed, @ForAll boolean lastNewline)
            throws IOException {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < lengths.size(); i++) {
            lines.add(String.valueOf((char) ('a' + i)).repeat(lengths.get(i)));
        }
        String text = String.join("\n", lines) + (lastNewline ? "\n" : "");
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            if (!lines.get(i).isEmpty()) {
                expected.add(shown(i + 1, lines.get(i)));
            }
        }
        assertThat(read(text, packed)).isEqualTo(expected);
    }

    @Provide
    Arbitrary<List<Integer>> lengths() {
        return Arbitraries.oneOf(
                        Arbitraries.integers().between(0, 3),
                        Arbitraries.integers().between(WINDOW - 4, WINDOW + 4),
                        Arbitraries.integers().between(2 * WINDOW - 4, 2 * WINDOW + 4),
                        Arbitraries.integers().between(LONGEST - 2, LONGEST + 2),
                        Arbitraries.integers().between(0, 3 * LONGEST))
                .list()
                .ofMaxSize(8);
    }

    @Test
    void aLineOfTheLongestLengthIsReadAndALongerOneIsNot() throws IOException {
        String longest = "x".repeat(LONGEST);
        assertThat(read(longest + "\nb", false)).containsExactly("1 " + longest, "2 b");
        assertThat(read(longest + "x\nb", false)).containsExactly("1 the line is longer than 150000 bytes", "2 b");
        assertThat(read(longest.repeat(9), true)).containsExactly("1 the line is longer than 150000 bytes");
    }

    private static String shown(int number, String line) {
        return number + " " + (line.length() > LONGEST ? "the line is longer than " + LONGEST + " bytes" : line);
    }

    private static List<String> read(String text, boolean packed) throws IOException {
        byte[] plain = text.getBytes(StandardCharsets.UTF_8);
        List<String> found = new ArrayList<>();
        try (LineReader lines =
                new LineReader(new ByteArrayInputStream(packed ? Fixtures.packed(plain) : plain), LONGEST)) {
            boolean more = true;
            while (more) {
                more = addNext(lines, found);
            }
        }
        return found;
    }

    /** Adds the next line or why it is bad, with its number. */
    private static boolean addNext(LineReader lines, List<String> found) throws IOException {
        try {
            if (!lines.next()) {
                return false;
            }
            String line = new String(lines.buffer(), lines.offset(), lines.length(), StandardCharsets.UTF_8);
            return found.add(lines.number() + " " + line);
        } catch (BadLineException e) {
            return found.add(lines.number() + " " + e.reason());
        }
    }
}
