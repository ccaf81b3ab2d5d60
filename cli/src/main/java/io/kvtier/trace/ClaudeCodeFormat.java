package io.kvtier.trace;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Lines of one session each; an id is valid in its session, and all sessions start at time 0. */
final class ClaudeCodeFormat implements TraceFormat {
    private final ClaudeSession session = new ClaudeSession();
    private final Map<String, Integer> scopes = new HashMap<>();
    private final List<String> sessionIds = new ArrayList<>();
    private final List<Integer> blockSizes = new ArrayList<>();

    @Override
    public String name() {
        return "claude-code";
    }

    @Override
    public boolean sortedByTime() {
        return true;
    }

    @Override
    public void addLine(JsonLine json, TraceBuilder builder) throws BadLineException {
        session.read(json);
        int scope = scope(session.id(), session.blockSize());
        for (ClaudeSession.Request request : session.requests) {
            addRequest(request, scope, builder);
        }
    }

    private int scope(String id, int blockSize) throws BadLineException {
        int scope = scopes.computeIfAbsent(id, name -> sessionIds.size());
        if (scope == sessionIds.size()) {
            sessionIds.add(id);
            blockSizes.add(blockSize);
        }
        if (blockSizes.get(scope) != blockSize) {
            throw new BadLineException("session \"%s\" has a \"block_size\" of %d, but %d on an earlier line"
                    .formatted(Excerpt.of(id), blockSize, blockSizes.get(scope)));
        }
        return scope;
    }

    private void addRequest(ClaudeSession.Request request, int scope, TraceBuilder builder) throws BadLineException {
        int end = request.firstId() + request.idCount();
        for (int i = request.firstId(); i < end; i++) {
            builder.block(scope, session.ids.get(i), session.blockSize());
        }
        builder.request(request.time(), request.input());
    }

    @Override
    public void nameBlock(int scope, long id, TraceBuilder.Parents parents, KeyHasher hasher) {
        hasher.text(sessionIds.get(scope));
        hasher.id(id);
    }
}
