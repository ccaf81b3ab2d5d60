package io.kvtier.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/** A trace as plain lists, against which the compact one is checked. */
final class TraceModel {

    /**
     * A request.
     *
     * @param input input length in tokens
     * @param blocks what names each block, equal for equal blocks only
     * @param tokens length of each block in tokens
     */
    record Request(long input, List<String> blocks, List<Integer> tokens) {
        Request(long input, List<String> blocks, int tokens) {
            this(input, blocks, blocks.stream().map(block -> tokens).toList());
        }
    }

    private TraceModel() {}

    /** Checks everything a trace says against the first requests of a model. */
    static void assertTrace(Trace trace, List<Request> all, long limit) {
        List<Request> kept = all.subList(0, (int) Math.min(limit, all.size()));
        assertThat(trace.requests()).isEqualTo(kept.size());
        Map<String, Integer> numbers = new HashMap<>();
        long references = 0;
        long input = 0;
        for (int i = 0; i < kept.size(); i++) {
            assertRequest(trace, i, kept.get(i), numbers);
            references += kept.get(i).blocks.size();
            input += kept.get(i).input;
        }
        assertThat(trace.distinctBlocks()).isEqualTo(numbers.size());
        assertThat(trace.blockReferences()).isEqualTo(references);
        assertThat(trace.inputTokens()).isEqualTo(input);
        assertThat(new HashSet<>(keys(trace))).hasSize(numbers.size());
    }

    private static void assertRequest(Trace trace, int number, Request request, Map<String, Integer> numbers) {
        assertThat(trace.inputLength(number)).isEqualTo(request.input);
        assertThat(trace.blocks(number)).isEqualTo(request.blocks.size());
        long sum = 0;
        assertThat(trace.hitTokens(number, 0)).isZero();
        for (int i = 0; i < request.blocks.size(); i++) {
            int expected = numbers.computeIfAbsent(request.blocks.get(i), name -> numbers.size());
            assertThat(trace.block(number, i)).isEqualTo(expected);
            sum += request.tokens.get(i);
            assertThat(trace.hitTokens(number, i + 1)).isEqualTo(Math.min(sum, request.input));
        }
    }

    /** Checks that two reads have all the same to say. */
    static void assertSame(Trace actual, Trace expected) {
        assertThat(actual.format()).isEqualTo(expected.format());
        assertThat(actual.skippedLines()).isEqualTo(expected.skippedLines());
        assertSameRequests(actual, expected);
    }

    static void assertSameRequests(Trace actual, Trace expected) {
        assertThat(actual.requests()).isEqualTo(expected.requests());
        assertThat(actual.distinctBlocks()).isEqualTo(expected.distinctBlocks());
        assertThat(actual.blockReferences()).isEqualTo(expected.blockReferences());
        assertThat(actual.inputTokens()).isEqualTo(expected.inputTokens());
        assertStart(actual, expected);
    }

    /** Checks that a read has the first requests of another one. */
    static void assertStart(Trace actual, Trace longer) {
        for (int request = 0; request < actual.requests(); request++) {
            assertThat(row(actual, request)).isEqualTo(row(longer, request));
        }
        assertThat(keys(actual)).isEqualTo(keys(longer).subList(0, actual.distinctBlocks()));
    }

    private static List<Long> row(Trace trace, int request) {
        List<Long> row = new ArrayList<>();
        row.add(trace.inputLength(request));
        row.add(trace.hitTokens(request, trace.blocks(request)));
        for (int i = 0; i < trace.blocks(request); i++) {
            row.add((long) trace.block(request, i));
        }
        return row;
    }

    static List<String> keys(Trace trace) {
        List<String> keys = new ArrayList<>();
        for (int block = 0; block < trace.distinctBlocks(); block++) {
            keys.add(key(trace, block));
        }
        return keys;
    }

    static String key(Trace trace, int block) {
        byte[] room = new byte[40];
        trace.copyKey(block, room, 4);
        assertThat(new byte[] {room[0], room[3], room[36], room[39]}).containsOnly(0);
        return HexFormat.of().formatHex(room, 4, 36);
    }
}
