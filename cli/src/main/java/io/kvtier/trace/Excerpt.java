package io.kvtier.trace;

/** Text of a file made fit for a one-line message. */
final class Excerpt {
    private static final int LONGEST = 80;

    private Excerpt() {}

    static String of(String text) {
        return of(text, LONGEST);
    }

    static String of(String text, int longest) {
        boolean fits = text.length() <= longest;
        String shown = (fits ? text : text.substring(0, longest)).replaceAll("\\p{Cntrl}", "?");
        return fits ? shown : shown + "... (" + text.length() + " characters)";
    }
}
