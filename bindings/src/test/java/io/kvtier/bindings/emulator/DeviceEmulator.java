package io.kvtier.bindings.emulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Emulated devices for tests: an emulated CUDA runtime and cuFile take the place of the real ones in this JVM. Which major
 * version they present is said by the property {@code kvtier.emulator}, which two executions of the build set. A test class
 * says {@code @Tag("emulator") @ExtendWith(DeviceEmulator.class)}, and must not touch CUDA in static initialisers.
 *
 * <p>Every test has to end with nothing live, no misuse that it did not take by {@link #takeMisuse}, and no planned fault that
 * never came.
 */
public final class DeviceEmulator implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback {
    private static final long REPORT_SIZE = 1 << 18;

    @Override
    public void beforeAll(ExtensionContext context) {
        assumeTrue(
                System.getProperty("kvtier.emulator") != null,
                "the property kvtier.emulator says neither 12 nor 13, as the build's emulator executions do");
        assumeTrue(EmulatorBuild.isPossible(), "the device emulator is compiled by gcc on Linux, which is not here");
        assertThat(Holder.NATIVE).isNotNull();
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        reset();
    }

    @Override
    public void afterEach(ExtensionContext context) {
        List<String> report = report();
        reset();
        devices(2);
        compat(false);
        assertThat(report).filteredOn(line -> !line.startsWith("note: ")).isEmpty();
    }

    /** Returns 12 or 13. */
    public static int major() {
        return Integer.getInteger("kvtier.emulator");
    }

    /** Returns the flags that give another JVM the emulated libraries too. */
    public static List<String> flags() {
        return flags(Holder.BUILD.runtime());
    }

    /** Returns the flags that give another JVM an emulated runtime without a function, as an older release has it. */
    public static List<String> flagsWithout(String function) {
        return flags(Holder.BUILD.runtimeWithout(function));
    }

    private static List<String> flags(Path runtime) {
        return List.of("-Dkvtier.cudart.path=" + runtime, "-Dkvtier.cufile.path=" + Holder.BUILD.cuFile());
    }

    /**
     * Makes the nth next use of a function (1 is the next) return a code. {@code "cudaMemcpyAsync@stream"} is the use in the
     * stream's thread, and ends the context.
     */
    public static void fail(String function, long nth, int code) {
        call("fail", function, nth, code);
    }

    /** Makes the nth next use of a cuFile I/O function move at most so many bytes. */
    public static void shorten(String function, long nth, long bytes) {
        call("short", function, nth, bytes);
    }

    /** Makes the nth next use of a function block until {@link #release}. */
    public static void stall(String function, long nth) {
        call("stall", function, nth);
    }

    /** Lets all stalled calls go on. */
    public static void release() {
        Holder.NATIVE.call("release");
    }

    /** Returns how many calls are stalled. */
    public static long stalled() {
        return Holder.NATIVE.ask("stalled");
    }

    /** Makes streams execute nothing until they may again. */
    public static void holdStreams(boolean hold) {
        Holder.NATIVE.call("hold_streams", hold ? 1 : 0);
    }

    /** Forgets plans and reports and a lost context, and releases what is stalled or held. */
    public static void reset() {
        Holder.NATIVE.call("reset");
    }

    /** Returns all lines: they begin with "misuse: ", "live: ", "plan: " or "note: ". */
    public static List<String> report() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocate(REPORT_SIZE);
            Holder.NATIVE.ask("report", text, REPORT_SIZE);
            return text.getString(0).lines().toList();
        }
    }

    /** Returns the misuse reported so far and forgets it. */
    public static List<String> takeMisuse() {
        List<String> misuse =
                report().stream().filter(line -> line.startsWith("misuse: ")).toList();
        Holder.NATIVE.call("forget_reports");
        return misuse;
    }

    /** Returns the number of objects that were not released. */
    public static long live() {
        return Holder.NATIVE.ask("live");
    }

    /** Returns how often a function was called since the last reset. */
    public static long calls(String function) {
        try (Arena arena = Arena.ofConfined()) {
            return Holder.NATIVE.ask("calls", arena.allocateFrom(function));
        }
    }

    /** Reads device memory, whatever the streams do. */
    public static byte[] peek(long deviceAddress, int size) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(size);
            Holder.NATIVE.call("peek", deviceAddress, bytes, (long) size);
            return bytes.toArray(ValueLayout.JAVA_BYTE);
        }
    }

    /** Writes device memory, whatever the streams do. */
    public static void poke(long deviceAddress, byte[] bytes) {
        try (Arena arena = Arena.ofConfined()) {
            Holder.NATIVE.call(
                    "poke", deviceAddress, arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes), (long) bytes.length);
        }
    }

    /** Changes the number of devices until the test's end; 0 is a driver without any, -1 no driver. */
    public static void devices(int count) {
        Holder.NATIVE.call("devices", count);
    }

    /** Makes cuFile work in its compatibility mode until the test's end, from the next driver open on. */
    public static void compat(boolean compat) {
        Holder.NATIVE.call("compat", compat ? 1 : 0);
    }

    private static void call(String name, String function, Object... more) {
        try (Arena arena = Arena.ofConfined()) {
            Object[] arguments = new Object[more.length + 1];
            arguments[0] = arena.allocateFrom(function);
            System.arraycopy(more, 0, arguments, 1, more.length);
            Holder.NATIVE.call(name, arguments);
        }
    }

    private static final class Holder {
        static final EmulatorBuild BUILD = new EmulatorBuild(major());
        static final EmulatorNative NATIVE = load();

        private static EmulatorNative load() {
            BUILD.libraries();
            System.setProperty("kvtier.cudart.path", BUILD.runtime().toString());
            System.setProperty("kvtier.cufile.path", BUILD.cuFile().toString());
            return new EmulatorNative(BUILD.runtime());
        }
    }
}
