package io.kvtier.trace;

/** How the lines of one format become requests. */
interface TraceFormat {

    /** Returns the format's name in {@link Trace#format()}, which is part of its blocks' keys. */
    String name();

    /** Whether the requests are to be sorted by their times; they stay in the order of the lines otherwise. */
    boolean sortedByTime();

    /** Adds the requests of one line, or none of them if the line is bad. */
    void addLine(JsonLine json, TraceBuilder builder) throws BadLineException;

    /** Feeds what tells a block from the others of its format: its scope and id as given to the builder. */
    void nameBlock(int scope, long id, TraceBuilder.Parents parents, KeyHasher hasher);
}
