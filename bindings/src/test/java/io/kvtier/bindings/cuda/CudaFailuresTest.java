package io.kvtier.bindings.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.NativeStatusException;
import io.kvtier.bindings.cuda.generated.CudaApi;
import io.kvtier.bindings.emulator.DeviceEmulator;
import io.kvtier.bindings.internal.Backoff;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Each function that the wrappers call fails at each of its uses: the failure is told, and nothing leaks. */
@Tag("emulator")
@ExtendWith(DeviceEmulator.class)
class CudaFailuresTest {
    private static final Pattern FUNCTION = Pattern.compile("\\bcuda[A-Z]\\w+");
    private static final Pattern PROTOTYPE = Pattern.compile(
            "^(?:const char \\*|cudaError_t |typedef cudaError_t )(\\w+?)(?:_1[23])?\\(", Pattern.MULTILINE);
    private static final int UNKNOWN_ERROR = 999;
    private static final int LAUNCH_FAILURE = 719;

    /** What says what an error is, or is asked once while the runtime is loaded. */
    private static final Set<String> NEVER_FAIL =
            Set.of("cudaGetErrorName", "cudaGetErrorString", "cudaGetLastError", "cudaRuntimeGetVersion");

    /** What needs another process: see IpcTest. */
    private static final Set<String> OF_OTHER_PROCESSES =
            Set.of("cudaIpcOpenMemHandle", "cudaIpcOpenEventHandle", "cudaIpcCloseMemHandle");

    /** What is called with nothing that could be told. */
    private static final Set<String> WITHOUT_ARGUMENTS =
            Set.of("cudaDriverGetVersion", "cudaGetDeviceCount", "cudaGetDevice");

    @Test
    void theScenarioCallsEveryFunction() throws IOException {
        Set<String> expected = functionsOfTheWrappers();
        expected.removeAll(NEVER_FAIL);
        expected.removeAll(OF_OTHER_PROCESSES);
        expected.remove(DeviceEmulator.major() == 12 ? "cudaGetDeviceProperties" : "cudaGetDeviceProperties_v2");
        assertThat(usesInTheScenario().keySet()).isEqualTo(expected).hasSizeGreaterThan(50);
    }

    /** Finds the names in the sources that are functions of the runtime. */
    private static Set<String> functionsOfTheWrappers() throws IOException {
        Set<String> declared = names(PROTOTYPE, Path.of("..", "native-headers", "cuda.h"));
        declared.add("cudaMemcpyBatchAsync");
        Set<String> used = new TreeSet<>();
        try (Stream<Path> sources = Files.list(Path.of("src/main/java/io/kvtier/bindings/cuda"))) {
            for (Path source : sources.toList()) {
                used.addAll(names(FUNCTION, source));
            }
        }
        used.retainAll(declared);
        return used;
    }

    private static Set<String> names(Pattern pattern, Path file) throws IOException {
        return pattern.matcher(Files.readString(file))
                .results()
                .map(CudaFailuresTest::name)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static String name(MatchResult result) {
        return result.groupCount() == 0 ? result.group() : result.group(1);
    }

    private static TreeMap<String, Long> usesInTheScenario() throws IOException {
        DeviceEmulator.reset();
        assertThat(CudaScenario.run()).isEmpty();
        TreeMap<String, Long> uses = new TreeMap<>();
        for (String function : functionsOfTheWrappers()) {
            long calls = DeviceEmulator.calls(function);
            if (calls > 0 && !NEVER_FAIL.contains(function)) {
                uses.put(function, calls);
            }
        }
        assertNothingLeft("without failure");
        return uses;
    }

    @Test
    void everyUseOfEveryFunctionMayFail() throws IOException {
        int told = 0;
        int uses = 0;
        for (var use : usesInTheScenario().entrySet()) {
            for (long nth = 1; nth <= use.getValue(); nth++) {
                told += failOnce(use.getKey(), nth, UNKNOWN_ERROR, "cudaErrorUnknown");
                uses++;
            }
        }
        assertThat(told).as("of %d uses", uses).isGreaterThan(100);
    }

    /** Returns 1 if the failure was told. */
    private static int failOnce(String function, long nth, int code, String codeName) {
        DeviceEmulator.reset();
        DeviceEmulator.fail(function, nth, code);
        List<RuntimeException> failures = CudaScenario.run();
        String use = "use " + nth + " of " + function;
        if (DeviceEmulator.report().stream().anyMatch(line -> line.startsWith("plan: "))) {
            // Whoever closes polls, and asks for events, only while there is work.
            assertThat(failures).isEmpty();
        } else if (!function.equals("cudaSetDevice") || !failures.isEmpty()) {
            // Only what ends a handle goes on where the device cannot be selected.
            assertThat(failures).as(use).hasSize(1);
            assertTold(failures.getFirst(), function, code, codeName);
        }
        assertNothingLeft(use);
        return failures.size();
    }

    private static void assertTold(RuntimeException failure, String function, int code, String codeName) {
        assertThat(failure).isInstanceOf(CudaException.class);
        NativeStatusException told = (NativeStatusException) failure;
        assertThat(told.function()).isEqualTo(function);
        assertThat(told.code()).isEqualTo(code);
        assertThat(told.codeName()).isEqualTo(codeName);
        assertThat(told.arguments()).startsWith("unknown error");
        if (!WITHOUT_ARGUMENTS.contains(function)) {
            assertThat(told.arguments()).as(function).matches("unknown error; .*(device \\d|address 0x|\\d+ copies).*");
        }
        assertThat(told).hasMessage(function + " failed with " + codeName + " (" + code + "): " + told.arguments());
    }

    private static void assertNothingLeft(String use) {
        assertThat(NativeHandles.live()).as(use).isEmpty();
        // A stream that was destroyed with the context still has to run its releases.
        assertThat(Backoff.until(() -> DeviceEmulator.live() == 0, Backoff.deadline(Duration.ofSeconds(10))))
                .as("%s: %s", use, DeviceEmulator.report())
                .isTrue();
        assertThat(DeviceEmulator.report()).as(use).noneMatch(line -> line.startsWith("misuse: "));
        DeviceEmulator.reset();
    }

    /** After an illegal access or the like every call fails; all can be closed nevertheless. */
    @Test
    void everyUseOfEveryFunctionMayLoseTheContext() throws IOException {
        for (var use : usesInTheScenario().entrySet()) {
            for (long nth : new long[] {1, (use.getValue() + 1) / 2, use.getValue()}) {
                DeviceEmulator.reset();
                DeviceEmulator.fail(use.getKey(), nth, LAUNCH_FAILURE);
                List<RuntimeException> failures = CudaScenario.run();
                assertThat(failures)
                        .as("use %d of %s", nth, use.getKey())
                        .allSatisfy(e -> assertThat(e)
                                .isInstanceOfSatisfying(
                                        CudaException.class,
                                        lost -> assertThat(lost.isContextLost())
                                                .as(lost.getMessage())
                                                .isTrue()));
                assertNothingLeft("use " + nth + " of " + use.getKey());
            }
        }
    }

    @Test
    void openingOfOtherProcessesMemoryMayFail() {
        Device device = new Device(0);
        DeviceEmulator.fail("cudaIpcOpenMemHandle", 1, UNKNOWN_ERROR);
        assertThatExceptionOfType(CudaException.class)
                .isThrownBy(() -> DeviceMemory.open(device, IpcMemoryHandle.of(new byte[64], 7)))
                .satisfies(e -> assertTold(e, "cudaIpcOpenMemHandle", UNKNOWN_ERROR, "cudaErrorUnknown"));
        DeviceEmulator.fail("cudaIpcOpenEventHandle", 1, UNKNOWN_ERROR);
        assertThatExceptionOfType(CudaException.class)
                .isThrownBy(() -> Event.open(device, IpcEventHandle.of(new byte[64])))
                .satisfies(e -> assertTold(e, "cudaIpcOpenEventHandle", UNKNOWN_ERROR, "cudaErrorUnknown"));
        assertNothingLeft("open");
    }

    @Test
    void textsOfErrorsMayBeMissing() {
        DeviceEmulator.fail("cudaGetErrorName", 1, UNKNOWN_ERROR);
        DeviceEmulator.fail("cudaGetErrorString", 1, UNKNOWN_ERROR);
        DeviceEmulator.fail("cudaMalloc", 1, 2);
        assertThatExceptionOfType(CudaException.class)
                .isThrownBy(() -> DeviceMemory.allocate(new Device(0), 5))
                .withMessage("cudaMalloc failed with unrecognized error code (2): unrecognized error code; device 0,"
                        + " 5 bytes")
                .satisfies(e -> assertThat(e.isOutOfMemory()).isTrue());
    }

    /** The runtime keeps the last error of a thread, which other users of CUDA there would take for theirs. */
    @Test
    void toldErrorsAreForgottenByTheRuntime() {
        DeviceEmulator.fail("cudaMalloc", 1, UNKNOWN_ERROR);
        assertThatExceptionOfType(CudaException.class).isThrownBy(() -> DeviceMemory.allocate(new Device(0), 5));
        assertThat(CudaApi.cudaPeekAtLastError()).isZero();
        Device first = new Device(0);
        first.enableAccess(new Device(1));
        first.enableAccess(new Device(1));
        assertThat(CudaApi.cudaPeekAtLastError()).isZero();
        first.disableAccess(new Device(1));
    }
}
