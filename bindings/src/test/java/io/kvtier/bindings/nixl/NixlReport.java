package io.kvtier.bindings.nixl;

import io.kvtier.bindings.Availability;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/** Says in a process of its own what NIXL was found, and what an older release of it does. */
final class NixlReport {
    private static final int BYTES = 1 << 16;

    private NixlReport() {}

    public static void main(String[] arguments) throws IOException {
        Availability availability = Nixl.availability();
        System.out.println("availability " + availability);
        if (availability.isAvailable() && arguments.length > 0) {
            report(Path.of(arguments[0]));
        }
        System.out.println("end");
    }

    private static void report(Path folder) throws IOException {
        try (Arena arena = Arena.ofShared();
                Agent agent = Agent.create("report", AgentConfig.DEFAULT)) {
            try {
                agent.createBackend("POSIX", Map.of());
                System.out.println("default queue works");
            } catch (IllegalArgumentException e) {
                System.out.println("default queue " + e.getMessage());
                agent.createBackend("POSIX", Map.of("use_uring", "true"));
            }
            MemorySegment memory = arena.allocate(BYTES, 4096);
            Descriptors local = Descriptors.of(MemoryType.DRAM).add(memory);
            Path file = Files.write(folder.resolve("file"), new byte[BYTES]);
            agent.register(local);
            agent.register(Descriptors.of(MemoryType.FILE).addPath(1, "rw", file.toString(), 0, BYTES));
            Descriptors remote = Descriptors.of(MemoryType.FILE).addRegisteredPath(1, 0, BYTES);
            System.out.println("whole read " + read(agent, local, remote));
            Files.write(file, new byte[100]);
            System.out.println("short read " + read(agent, local, remote));
        }
    }

    private static String read(Agent agent, Descriptors local, Descriptors remote) {
        try (Transfer transfer = agent.transfer(Operation.READ, local, remote, "report", TransferOptions.DEFAULT)) {
            transfer.post();
            return transfer.await(Duration.ofSeconds(60)) ? "done" : "late";
        } catch (NixlException e) {
            return e.codeName();
        }
    }
}
