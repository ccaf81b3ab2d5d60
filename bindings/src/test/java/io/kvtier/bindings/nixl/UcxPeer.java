package io.kvtier.bindings.nixl;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/** The other process of a test: an agent over UCX with some memory, that does what its standard input says. */
final class UcxPeer {
    private UcxPeer() {}

    public static void main(String[] arguments) throws IOException {
        String name = arguments[0];
        long bytes = Long.parseLong(arguments[1]);
        try (Arena arena = Arena.ofShared();
                Agent agent = Agent.create(name, AgentConfig.DEFAULT)) {
            agent.createBackend("UCX", Map.of());
            MemorySegment memory = arena.allocate(bytes, 4096).fill((byte) 7);
            agent.register(Descriptors.of(MemoryType.DRAM).add(memory));
            System.out.println("memory " + memory.address());
            System.out.println("metadata " + Base64.getEncoder().encodeToString(agent.localMetadata()));
            obey(agent, memory);
        }
        System.out.println("closed");
    }

    private static void obey(Agent agent, MemorySegment memory) throws IOException {
        BufferedReader reader = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
            String[] words = line.split(" ", 3);
            switch (words[0]) {
                case "load" ->
                    System.out.println("loaded "
                            + agent.loadRemoteMetadata(Base64.getDecoder().decode(words[1])));
                case "notify" -> agent.notify(words[1], words[2].getBytes(StandardCharsets.UTF_8));
                case "notification" -> System.out.println("notification " + awaitNotification(agent));
                case "sum" -> System.out.println("sum " + sum(memory));
                default -> {
                    return;
                }
            }
        }
    }

    private static String awaitNotification(Agent agent) {
        List<Notification> notifications = agent.notifications();
        while (notifications.isEmpty()) {
            notifications = agent.notifications();
        }
        Notification first = notifications.getFirst();
        return first.from() + " " + new String(first.message(), StandardCharsets.UTF_8);
    }

    static long sum(MemorySegment memory) {
        long sum = 0;
        for (long at = 0; at < memory.byteSize(); at += Long.BYTES) {
            sum = 31 * sum + memory.get(ValueLayout.JAVA_LONG, at);
        }
        return sum;
    }
}
