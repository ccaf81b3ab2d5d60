package io.kvtier.jmh;

import java.util.Locale;

/** What a row counts in, made from the nanoseconds of an operation. */
enum Unit {
    NANOSECONDS("ns", "%.1f", true),
    GB_PER_SECOND("GB/s", "%.2f", false),
    MB_PER_SECOND("MB/s", "%.0f", false);

    private final String text;
    private final String format;
    private final boolean lessIsBetter;

    Unit(String text, String format, boolean lessIsBetter) {
        this.text = text;
        this.format = format;
        this.lessIsBetter = lessIsBetter;
    }

    /** Returns the value of an operation that took so many nanoseconds for so many bytes. */
    double value(double nanos, long bytes) {
        return switch (this) {
            case NANOSECONDS -> nanos;
            case GB_PER_SECOND -> bytes / nanos;
            case MB_PER_SECOND -> bytes / nanos * 1e3;
        };
    }

    /** Returns how many times better one value is than another: above 1 if {@code ours} wins. */
    double ratio(double ours, double theirs) {
        return lessIsBetter ? theirs / ours : ours / theirs;
    }

    String format(double value) {
        return String.format(Locale.ROOT, format, value);
    }

    @Override
    public String toString() {
        return text;
    }
}
