package io.kvtier.trace;

import java.util.Arrays;
import java.util.List;

/** Lines of one request each, made of pieces; a block is a piece behind all pieces before it. */
final class RagPulseFormat implements TraceFormat {
    private static final int NO_PARENT = -1;
    private static final byte[] NO_KEY = {};

    private final PieceLengths lengths;
    private final List<KindIds> kinds =
            Arrays.stream(PieceKind.values()).map(KindIds::new).toList();
    private final LongList pieces = new LongList();
    private double time;
    private int input;
    private int output;
    private boolean hashIds;

    RagPulseFormat(PieceLengths lengths) {
        this.lengths = lengths;
    }

    /** The ids of one kind in the current line. */
    private static final class KindIds {
        private final PieceKind kind;
        private final LongList ids = new LongList();
        private boolean listed;

        KindIds(PieceKind kind) {
            this.kind = kind;
        }

        void clear() {
            ids.clear();
            listed = false;
        }
    }

    @Override
    public String name() {
        return "ragpulse";
    }

    @Override
    public boolean sortedByTime() {
        return true;
    }

    @Override
    public void addLine(JsonLine json, TraceBuilder builder) throws BadLineException {
        clear();
        json.openLine();
        for (String field = json.field(); field != null; field = json.field()) {
            readField(field, json);
        }
        json.closeLine();
        checkComplete();
        orderPieces();
        addRequest(builder);
    }

    private void clear() {
        kinds.forEach(KindIds::clear);
        pieces.clear();
        time = -1;
        input = -1;
        output = -1;
        hashIds = false;
    }

    private void readField(String field, JsonLine json) throws BadLineException {
        switch (field) {
            case "timestamp" -> time = json.timeOrText(field);
            case "input_length" -> input = json.count(field);
            case "output_length" -> output = json.count(field);
            case "hash_ids" -> {
                readIds(json);
                hashIds = true;
            }
            default -> json.skip();
        }
    }

    private void readIds(JsonLine json) throws BadLineException {
        json.openObject("hash_ids");
        for (String field = json.field(); field != null; field = json.field()) {
            KindIds kind = ofField(field);
            json.ids(field, kind.ids);
            kind.listed = true;
        }
    }

    private KindIds ofField(String field) throws BadLineException {
        for (KindIds kind : kinds) {
            if (kind.kind.field.equals(field)) {
                return kind;
            }
        }
        // Its place in the prompt is unknown, so no prefix behind it could be told.
        throw new BadLineException("\"hash_ids\" has the unknown kind \"" + Excerpt.of(field) + "\"");
    }

    private void checkComplete() throws BadLineException {
        JsonLine.require(time >= 0, "timestamp");
        JsonLine.require(input >= 0, "input_length");
        JsonLine.require(output >= 0, "output_length");
        JsonLine.require(hashIds, "hash_ids");
        for (KindIds kind : kinds) {
            JsonLine.require(kind.listed, kind.kind.field);
        }
    }

    private void orderPieces() throws BadLineException {
        for (KindIds kind : kinds) {
            for (int i = 0; i < kind.ids.size(); i++) {
                pieces.add(lengths.number(kind.kind, kind.ids.get(i)));
            }
        }
    }

    private void addRequest(TraceBuilder builder) throws BadLineException {
        int parent = NO_PARENT;
        for (int i = 0; i < pieces.size(); i++) {
            int piece = (int) pieces.get(i);
            parent = builder.block(parent, piece, lengths.length(piece));
        }
        builder.request(time, input);
    }

    @Override
    public void nameBlock(int parent, long piece, TraceBuilder.Parents parents, KeyHasher hasher) {
        hasher.bytes(parent == NO_PARENT ? NO_KEY : parents.key(parent));
        hasher.text(lengths.kind((int) piece).field);
        hasher.id(lengths.id((int) piece));
    }
}
