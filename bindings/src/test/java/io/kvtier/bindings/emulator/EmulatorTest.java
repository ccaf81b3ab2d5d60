package io.kvtier.bindings.emulator;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.kvtier.bindings.Availability;
import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.cuda.Cuda;
import io.kvtier.bindings.cuda.generated.CudaApi;
import io.kvtier.bindings.cufile.CuFile;
import io.kvtier.bindings.internal.LibrarySearch;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The emulator keeps the rules that tests rely on: its own test programs pass, and it is what this JVM takes for CUDA. */
@Tag("emulator")
@ExtendWith(DeviceEmulator.class)
class EmulatorTest {
    private static final Pattern PROTOTYPE = Pattern.compile(
            "^(?:const char \\*|cudaError_t |CUfileError_t |ssize_t |long |void )(\\w+)\\(", Pattern.MULTILINE);
    private static final int SEGMENTATION_FAULT = 128 + 11;

    /** What the headers declare and one major version has not. */
    private static final Map<Integer, Set<String>> ABSENT = Map.of(
            12,
            Set.of(
                    "cuFileReadv",
                    "cuFileWritev",
                    "cuFileSetStatsLevel",
                    "cuFileStatsStart",
                    "cuFileStatsStop",
                    "cuFileStatsReset",
                    "cuFileGetStatsL1"),
            13,
            Set.of("cudaGetDeviceProperties_v2"));
    /** What the headers declare as function types only, as their parameters differ. */
    private static final Map<Integer, Set<String>> BY_MAJOR = Map.of(
            12,
            Set.of(
                    "cudaMemcpyBatchAsync",
                    "cudaMemPrefetchAsync",
                    "cudaMemPrefetchAsync_v2",
                    "cudaMemAdvise",
                    "cudaMemAdvise_v2"),
            13,
            Set.of("cudaMemcpyBatchAsync", "cudaMemPrefetchAsync", "cudaMemAdvise"));

    private final EmulatorBuild build = new EmulatorBuild(DeviceEmulator.major());

    @TempDir
    Path scratch;

    @BeforeEach
    void theRuntimeIsFound() {
        assertThat(Cuda.devices()).isInstanceOf(Availability.Present.class);
    }

    @AfterEach
    void nothingIsLive() {
        assertThat(NativeHandles.live()).isEmpty();
    }

    @Test
    void itIsTheRuntimeAndTheCuFileOfThisJvm() {
        assertThat(Cuda.runtime())
                .isEqualTo(Availability.present(
                        "CUDA runtime", build.runtime().toString(), DeviceEmulator.major() == 12 ? "12.9" : "13.5"));
        assertThat(CuFile.availability())
                .isEqualTo(Availability.present(
                        "cuFile", build.cuFile().toString(), DeviceEmulator.major() == 12 ? "1.14" : "1.20"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"cuda_test", "stream_test", "cufile_test", "sharing_test"})
    void itsOwnTestProgramsPass(String name) {
        assertThat(run(name)).isEqualTo(new ChildProcess(0, "all well\n"));
    }

    @Test
    void aStrayHostAccessToDeviceMemoryFaults() {
        assertThat(run("exit_test", "stray").code()).isEqualTo(SEGMENTATION_FAULT);
        assertThat(run("exit_test", "clean")).isEqualTo(new ChildProcess(0, ""));
    }

    @Test
    void whatIsNotReleasedIsToldAtExit() throws IOException {
        assertThat(run("exit_test", "leak").output())
                .contains("kvtier emulator: 2 objects were not released: ")
                .contains("live: stream of device 0")
                .contains("live: device memory");
        assertThat(Files.readString(scratch.resolve("report"))).contains("2 objects were not released", "live: stream");
        assertThat(run("exit_test", "clean").output()).isEmpty();
        assertThat(Files.readString(scratch.resolve("report"))).contains("0 objects were not released");
    }

    @Test
    void itExportsWhatTheHeadersDeclareAndNoMore() throws IOException {
        Set<String> cuda = declared("cuda.h");
        cuda.removeAll(ABSENT.get(DeviceEmulator.major()));
        cuda.addAll(BY_MAJOR.get(DeviceEmulator.major()));
        assertThat(exported(build.runtime(), "cuda")).isEqualTo(cuda).hasSizeGreaterThan(60);
        Set<String> cuFile = declared("cufile.h");
        cuFile.removeAll(ABSENT.get(DeviceEmulator.major()));
        assertThat(exported(build.cuFile(), "cuFile")).isEqualTo(cuFile).hasSizeGreaterThan(30);
    }

    /** The real libraries are there once the probe test has fetched them. */
    @Test
    void itExportsNothingThatTheRealLibrariesLack() throws IOException {
        Optional<Path> real = realLibraries();
        assumeTrue(real.isPresent(), "the emulator was not compared with the real libraries: the probe test got none");
        assertThat(exported(real.get().resolve("libcudart.so"), "cuda")).containsAll(exported(build.runtime(), "cuda"));
        assertThat(exported(real.get().resolve("libcufile.so"), "cuFile"))
                .containsAll(exported(build.cuFile(), "cuFile"));
    }

    private static Optional<Path> realLibraries() throws IOException {
        String natives = System.getenv("KVTIER_NATIVES_DIR");
        Path base = natives == null ? LibrarySearch.nativesFolder().getParent() : Path.of(natives);
        Path fetched = base.resolve("probe-headers");
        if (!Files.isDirectory(fetched)) {
            return Optional.empty();
        }
        try (DirectoryStream<Path> folders =
                Files.newDirectoryStream(fetched, "cuda" + DeviceEmulator.major() + "-*")) {
            return StreamSupport.stream(folders.spliterator(), false).max(Comparator.naturalOrder());
        }
    }

    @Test
    void plannedFaultsReportsAndDeviceMemoryAreSeenByTheJvm() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pointer = arena.allocate(ADDRESS);
            DeviceEmulator.fail("cudaMalloc", 2, 2);
            assertThat(CudaApi.cudaMalloc(pointer, 64)).isZero();
            MemorySegment memory = pointer.get(ADDRESS, 0);
            assertThat(CudaApi.cudaMalloc(pointer, 64)).isEqualTo(2);
            assertThat(DeviceEmulator.calls("cudaMalloc")).isEqualTo(2);
            assertThat(DeviceEmulator.live()).isEqualTo(1);
            DeviceEmulator.poke(memory.address() + 1, new byte[] {1, 2, 3});
            assertThat(DeviceEmulator.peek(memory.address() + 2, 2)).containsExactly(2, 3);
            assertThat(CudaApi.cudaFree(memory)).isZero();
            assertThat(CudaApi.cudaFree(memory)).isEqualTo(1);
            assertThat(DeviceEmulator.takeMisuse())
                    .singleElement()
                    .asString()
                    .startsWith("misuse: cudaFree: 0x" + Long.toHexString(memory.address()));
        }
    }

    @Test
    void devicesComeAndGo() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment count = arena.allocate(JAVA_INT);
            assertThat(CudaApi.cudaGetDeviceCount(count)).isZero();
            assertThat(count.get(JAVA_INT, 0)).isEqualTo(2);
            DeviceEmulator.devices(5);
            assertThat(CudaApi.cudaGetDeviceCount(count)).isZero();
            assertThat(count.get(JAVA_INT, 0)).isEqualTo(5);
            DeviceEmulator.devices(0);
            assertThat(CudaApi.cudaGetDeviceCount(count)).isEqualTo(100);
            DeviceEmulator.devices(-1);
            assertThat(CudaApi.cudaGetDeviceCount(count)).isEqualTo(35);
        }
    }

    private ChildProcess run(String program, String... arguments) {
        List<String> command = new ArrayList<>(List.of(build.program(program).toString()));
        command.addAll(List.of(arguments));
        return ChildProcess.run(
                command,
                Map.of("KVTIER_EMULATOR_REPORT", scratch.resolve("report").toString()));
    }

    private static Set<String> declared(String header) throws IOException {
        return PROTOTYPE
                .matcher(Files.readString(EmulatorBuild.HEADERS.resolve(header)))
                .results()
                .map(result -> result.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Set<String> exported(Path library, String prefix) {
        ChildProcess nm = ChildProcess.run(List.of("nm", "-D", "--defined-only", library.toString()), Map.of());
        assertThat(nm.code()).as(nm.output()).isZero();
        return Pattern.compile(" T (" + prefix + "[A-Z]\\w*)")
                .matcher(nm.output())
                .results()
                .map(result -> result.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
