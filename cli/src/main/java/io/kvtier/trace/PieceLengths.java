package io.kvtier.trace;

import java.io.IOException;

/** The pieces of a RAGPulse trace and their lengths in tokens, from the side files. */
final class PieceLengths {
    private final PairTable pieces = new PairTable();

    private PieceLengths() {}

    /** Reads the side files of the trace whose first line was just found. */
    static PieceLengths read(LineFeed trace) throws IOException {
        PieceLengths lengths = new PieceLengths();
        for (PieceKind kind : PieceKind.values()) {
            trace.offerAllOf(kind.fileName, json -> lengths.addLine(kind, json));
        }
        return lengths;
    }

    /** Returns the piece's number. */
    int number(PieceKind kind, long id) throws BadLineException {
        int number = pieces.find(kind.file, id);
        if (number < 0) {
            throw new BadLineException("\"%s\" has the piece %s, which has no length in %s"
                    .formatted(kind.field, Long.toUnsignedString(id), kind.fileName));
        }
        return number;
    }

    int length(int number) {
        return pieces.value(number);
    }

    PieceKind kind(int number) {
        return PieceKind.ofFile(pieces.scope(number));
    }

    long id(int number) {
        return pieces.id(number);
    }

    private void addLine(PieceKind kind, JsonLine json) throws BadLineException {
        boolean named = false;
        long id = 0;
        int length = -1;
        json.openLine();
        for (String field = json.field(); field != null; field = json.field()) {
            if (field.equals(kind.idField)) {
                id = json.id(field);
                named = true;
            } else if (field.equals("token_length")) {
                length = json.count(field);
            } else {
                json.skip();
            }
        }
        json.closeLine();
        JsonLine.require(named, kind.idField);
        JsonLine.require(length >= 0, "token_length");
        add(kind, id, length);
    }

    private void add(PieceKind kind, long id, int length) throws BadLineException {
        int known = length(pieces.intern(kind.file, id, length));
        if (known != length) {
            throw new BadLineException("the piece %s has a \"token_length\" of %d, but %d on an earlier line"
                    .formatted(Long.toUnsignedString(id), length, known));
        }
    }
}
