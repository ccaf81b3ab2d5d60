package io.kvtier.bindings.nixl;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.function.LongSupplier;

/** What a test looks at in a process of its own: how much memory many operations leave behind. */
final class SteadyState {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final int PIECE = 4096;
    private static final int PIECES = 64;
    private static final int[] ALL = new int[PIECES];

    private SteadyState() {}

    public static void main(String[] arguments) throws IOException {
        for (int i = 0; i < PIECES; i++) {
            ALL[i] = i;
        }
        Path folder = Path.of(arguments[1]);
        switch (arguments[0]) {
            case "transfers" -> transfers(folder);
            case "posix" -> grow(40, 200, () -> agent("POSIX"));
            case "ucx" -> grow(4, 20, () -> agent("UCX"));
            case "allocation" -> allocation(folder);
            default -> throw new IllegalArgumentException(arguments[0]);
        }
    }

    private static void agent(String plugin) {
        try (Agent agent = Agent.create("short-lived", AgentConfig.DEFAULT)) {
            agent.createBackend(plugin, Map.of());
        }
    }

    private static void transfers(Path folder) throws IOException {
        try (Arena arena = Arena.ofShared();
                Agent agent = Agent.create("steady", AgentConfig.DEFAULT)) {
            agent.createBackend("POSIX", Map.of());
            Descriptors local = Descriptors.of(MemoryType.DRAM);
            Descriptors remote = Descriptors.of(MemoryType.FILE);
            register(agent, arena, folder, local, remote);
            grow(2_000, 10_000, () -> {
                try (PreparedDescriptors from = agent.prepareLocal(local);
                        PreparedDescriptors to = agent.prepareRemote(remote, "steady");
                        Transfer prepared =
                                agent.transfer(Operation.READ, from, ALL, to, ALL, TransferOptions.DEFAULT);
                        Transfer listed =
                                agent.transfer(Operation.WRITE, local, remote, "steady", TransferOptions.DEFAULT)) {
                    listed.post();
                    listed.await(LONG);
                    prepared.post();
                    prepared.await(LONG);
                }
            });
        }
    }

    private static void register(Agent agent, Arena arena, Path folder, Descriptors local, Descriptors remote) {
        MemorySegment memory = arena.allocate(PIECE * PIECES, 4096);
        for (int i = 0; i < PIECES; i++) {
            local.add(memory, (long) i * PIECE, PIECE);
            remote.addRegisteredPath(1, (long) i * PIECE, PIECE);
        }
        agent.register(Descriptors.of(MemoryType.DRAM).add(memory));
        agent.register(Descriptors.of(MemoryType.FILE)
                .addPath(1, "rw,create", folder.resolve("steady").toString(), 0, PIECE * PIECES));
    }

    /** Prints by how many KiB the process has grown over many runs, after some to warm up. */
    private static void grow(int warmUp, int count, Runnable run) throws IOException {
        for (int i = 0; i < warmUp; i++) {
            run.run();
        }
        long before = residentKibibytes();
        for (int i = 0; i < count; i++) {
            run.run();
        }
        System.out.println("growth " + (residentKibibytes() - before));
    }

    private static long residentKibibytes() throws IOException {
        System.gc();
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("VmRSS:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("[^0-9]", "")))
                .findFirst()
                .orElseThrow();
    }

    /** Prints the bytes of Java heap that 10,000 transfers posted again take. */
    private static void allocation(Path folder) {
        try (Arena arena = Arena.ofShared();
                Agent agent = Agent.create("steady", AgentConfig.DEFAULT)) {
            agent.createBackend("POSIX", Map.of());
            Descriptors local = Descriptors.of(MemoryType.DRAM);
            Descriptors remote = Descriptors.of(MemoryType.FILE);
            register(agent, arena, folder, local, remote);
            try (Transfer transfer =
                    agent.transfer(Operation.WRITE, local, remote, "steady", TransferOptions.DEFAULT)) {
                postAgain(transfer, 10_000);
                LongSupplier allocated = allocatedBytes();
                long before = allocated.getAsLong();
                postAgain(transfer, 10_000);
                System.out.println("allocated " + (allocated.getAsLong() - before));
            }
        }
    }

    /** By reflection: the module under test does not read the module of these beans. */
    private static LongSupplier allocatedBytes() {
        try {
            Object bean = Class.forName("java.lang.management.ManagementFactory")
                    .getMethod("getThreadMXBean")
                    .invoke(null);
            Method allocated =
                    Class.forName("com.sun.management.ThreadMXBean").getMethod("getCurrentThreadAllocatedBytes");
            return () -> {
                try {
                    return (long) allocated.invoke(bean);
                } catch (ReflectiveOperationException e) {
                    throw new IllegalStateException(e);
                }
            };
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void postAgain(Transfer transfer, int count) {
        for (int i = 0; i < count; i++) {
            transfer.post();
            while (!transfer.isDone()) {
                Thread.onSpinWait();
            }
        }
    }
}
