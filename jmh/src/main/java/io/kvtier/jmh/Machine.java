package io.kvtier.jmh;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * Where a run took place.
 *
 * @param cpu the processor's model
 * @param cores cores that this process may use
 * @param jdk vendor and version of the JDK
 * @param os name and version of the system
 */
record Machine(String cpu, int cores, String jdk, String os) {
    static Machine here() {
        return new Machine(
                cpuModel(),
                Runtime.getRuntime().availableProcessors(),
                System.getProperty("java.vendor") + " " + Runtime.version(),
                System.getProperty("os.name") + " " + System.getProperty("os.version") + " "
                        + System.getProperty("os.arch"));
    }

    private static String cpuModel() {
        try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            return lines.filter(line -> line.startsWith("model name"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse("unknown");
        } catch (IOException e) {
            return "unknown";
        }
    }

    @Override
    public String toString() {
        return cpu + ", " + cores + " cores, JDK " + jdk + ", " + os;
    }
}
