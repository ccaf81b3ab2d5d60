package io.kvtier.trace;

/** Lines of one request each; an id stands for its block and the whole prefix, and is valid in the whole trace. */
final class MooncakeFormat implements TraceFormat {
    private static final int ONE_SCOPE = 0;

    private final int blockTokens;
    private final LongList ids = new LongList();
    private boolean timestamp;
    private boolean hashIds;
    private int input;
    private int output;

    MooncakeFormat(int blockTokens) {
        this.blockTokens = blockTokens;
    }

    @Override
    public String name() {
        return "mooncake";
    }

    @Override
    public boolean sortedByTime() {
        return false;
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
        addRequest(builder);
    }

    private void clear() {
        ids.clear();
        timestamp = false;
        hashIds = false;
        input = -1;
        output = -1;
    }

    private void readField(String field, JsonLine json) throws BadLineException {
        switch (field) {
            case "timestamp" -> timestamp = json.time(field) >= 0;
            case "input_length" -> input = json.count(field);
            case "output_length" -> output = json.count(field);
            case "hash_ids" -> {
                json.ids(field, ids);
                hashIds = true;
            }
            default -> json.skip();
        }
    }

    private void checkComplete() throws BadLineException {
        JsonLine.require(timestamp, "timestamp");
        JsonLine.require(input >= 0, "input_length");
        JsonLine.require(output >= 0, "output_length");
        JsonLine.require(hashIds, "hash_ids");
    }

    private void addRequest(TraceBuilder builder) throws BadLineException {
        for (int i = 0; i < ids.size(); i++) {
            builder.block(ONE_SCOPE, ids.get(i), blockTokens);
        }
        // The lines are in order already.
        builder.request(0, input);
    }

    @Override
    public void nameBlock(int scope, long id, TraceBuilder.Parents parents, KeyHasher hasher) {
        hasher.id(id);
    }
}
