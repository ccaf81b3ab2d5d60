package io.kvtier.trace;

import java.util.ArrayList;
import java.util.List;

/** What one line of the Claude Code format says: a session with its requests and those of its sub-agents. */
final class ClaudeSession {
    private static final String LOCAL = "local";
    private static final String SUBAGENT = "subagent";

    /** The ids of all requests, one after the other. */
    final LongList ids = new LongList();

    /** The requests in the order of the line, a sub-agent's in its entry's place. */
    final List<Request> requests = new ArrayList<>();

    private String id = "";
    private int blockSize;
    private boolean named;
    private boolean listed;

    /**
     * A request.
     *
     * @param time seconds since the session's start
     * @param input input length in tokens
     * @param firstId place of its first id
     * @param idCount number of its ids
     */
    record Request(double time, int input, int firstId, int idCount) {
        Request later(double seconds) {
            return new Request(time + seconds, input, firstId, idCount);
        }
    }

    String id() {
        return id;
    }

    int blockSize() {
        return blockSize;
    }

    /** Reads a session in place of the last one. */
    void read(JsonLine json) throws BadLineException {
        clear();
        json.openLine();
        for (String field = json.field(); field != null; field = json.field()) {
            readField(field, json);
        }
        json.closeLine();
        JsonLine.require(named, "id");
        JsonLine.require(blockSize > 0, "block_size");
        JsonLine.require(listed, "requests");
        checkBlocks();
    }

    private void clear() {
        ids.clear();
        requests.clear();
        blockSize = 0;
        named = false;
        listed = false;
    }

    private void readField(String field, JsonLine json) throws BadLineException {
        switch (field) {
            case "id" -> {
                id = json.text(field);
                named = true;
            }
            case "block_size" -> blockSize = readBlockSize(field, json);
            case "hash_id_scope" -> checkScope(field, json);
            case "requests" -> {
                readEntries(json);
                listed = true;
            }
            default -> json.skip();
        }
    }

    private static int readBlockSize(String field, JsonLine json) throws BadLineException {
        int size = json.count(field);
        if (size == 0) {
            throw json.wrong(field, "at least 1");
        }
        return size;
    }

    private static void checkScope(String field, JsonLine json) throws BadLineException {
        if (!json.text(field).equals(LOCAL)) {
            throw json.wrong(field, "\"" + LOCAL + "\"");
        }
    }

    private void readEntries(JsonLine json) throws BadLineException {
        json.openArray("requests");
        while (json.element()) {
            new Entry(requests.size(), ids.size()).read(json);
        }
    }

    private void checkBlocks() throws BadLineException {
        for (int i = 0; i < requests.size(); i++) {
            Request request = requests.get(i);
            long most = ((long) request.input + blockSize - 1) / blockSize;
            if (request.idCount > most) {
                throw new BadLineException(
                        "request %d of the session has %d \"hash_ids\", but \"in\" of %d holds %d blocks"
                                .formatted(i + 1, request.idCount, request.input, most));
            }
        }
    }

    /** An element of a list of requests: a request, or a sub-agent with requests of its own. */
    private final class Entry {
        private final int firstInner;
        private final int firstId;
        private String type = "";
        private double time = -1;
        private int input = -1;
        private int output = -1;
        private boolean typed;
        private boolean hashIds;
        private boolean inner;

        Entry(int firstInner, int firstId) {
            this.firstInner = firstInner;
            this.firstId = firstId;
        }

        void read(JsonLine json) throws BadLineException {
            json.openObject("requests");
            for (String field = json.field(); field != null; field = json.field()) {
                readField(field, json);
            }
            JsonLine.require(typed, "type");
            JsonLine.require(time >= 0, "t");
            if (type.equals(SUBAGENT)) {
                endSubagent();
            } else {
                endRequest();
            }
        }

        private void readField(String field, JsonLine json) throws BadLineException {
            switch (field) {
                case "type" -> {
                    type = json.text(field);
                    typed = true;
                }
                case "t" -> time = json.time(field);
                case "in" -> input = json.count(field);
                case "out" -> output = json.count(field);
                case "hash_ids" -> {
                    json.ids(field, ids);
                    hashIds = true;
                }
                case "requests" -> {
                    readEntries(json);
                    inner = true;
                }
                default -> json.skip();
            }
        }

        private void endSubagent() throws BadLineException {
            JsonLine.require(inner, "requests");
            if (hashIds) {
                throw new BadLineException("a sub-agent has \"hash_ids\" of its own");
            }
            for (int i = firstInner; i < requests.size(); i++) {
                requests.set(i, requests.get(i).later(time));
            }
        }

        private void endRequest() throws BadLineException {
            JsonLine.require(input >= 0, "in");
            JsonLine.require(output >= 0, "out");
            JsonLine.require(hashIds, "hash_ids");
            if (inner) {
                throw new BadLineException("an entry of type \"" + Excerpt.of(type) + "\" has \"requests\" of its own");
            }
            requests.add(new Request(time, input, firstId, ids.size() - firstId));
        }
    }
}
