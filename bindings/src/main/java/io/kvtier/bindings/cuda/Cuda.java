package io.kvtier.bindings.cuda;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.kvtier.bindings.Availability;
import io.kvtier.bindings.cuda.generated.CudaApi;
import io.kvtier.bindings.internal.LibrarySearch;
import io.kvtier.bindings.internal.NativeLibraries;
import io.kvtier.bindings.internal.SharedLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Whether the CUDA runtime and devices can be used here. The library is looked for and loaded at the first question,
 * once; releases 12 and 13 will do.
 */
public final class Cuda {
    private static final int OLDEST_MAJOR = 12;
    private static final int NEWEST_MAJOR = 13;
    /** What every release from 12.0 on has; the batch copy came later. */
    private static final List<String> REQUIRED = List.of(
            "cudaRuntimeGetVersion",
            "cudaDriverGetVersion",
            "cudaGetErrorName",
            "cudaGetErrorString",
            "cudaGetLastError",
            "cudaGetDeviceCount",
            "cudaSetDevice",
            "cudaDeviceGetAttribute",
            "cudaStreamCreateWithFlags",
            "cudaStreamQuery",
            "cudaStreamWaitEvent",
            "cudaEventCreateWithFlags",
            "cudaEventRecord",
            "cudaEventQuery",
            "cudaMalloc",
            "cudaFree",
            "cudaMallocAsync",
            "cudaFreeAsync",
            "cudaMemPoolCreate",
            "cudaHostAlloc",
            "cudaFreeHost",
            "cudaHostRegister",
            "cudaHostUnregister",
            "cudaPointerGetAttributes",
            "cudaMemcpyAsync",
            "cudaMemcpyPeerAsync",
            "cudaMemcpy2DAsync",
            "cudaMemcpy3DAsync",
            "cudaMemsetAsync",
            "cudaIpcOpenMemHandle");

    private Cuda() {}

    /** Returns where the runtime library was found and in which version, or why it cannot be used. */
    public static Availability runtime() {
        return Holder.RUNTIME.availability();
    }

    /** Returns whether there is a driver and a device, or why not. */
    public static Availability devices() {
        return Holder.DEVICES;
    }

    /**
     * Returns the version of the runtime, e.g. 12090 for 12.9.
     *
     * @throws IllegalStateException if there is no runtime
     */
    public static int runtimeVersion() {
        requireRuntime();
        return Holder.RUNTIME.version();
    }

    /**
     * Returns the major version of the runtime: 12 or 13.
     *
     * @throws IllegalStateException if there is no runtime
     */
    public static int runtimeMajor() {
        return runtimeVersion() / 1000;
    }

    /**
     * Returns the newest version of CUDA that the driver can serve, e.g. 13000 for 13.0; 0 if there is no driver.
     *
     * @throws IllegalStateException if there is no runtime
     * @throws CudaException if the runtime refuses
     */
    public static int driverVersion() {
        requireRuntime();
        return Device.askInt("cudaDriverGetVersion", "", CudaApi::cudaDriverGetVersion);
    }

    /**
     * Returns the runtime's name and text for a status code, e.g. {@code cudaErrorNoDevice: no CUDA-capable device is
     * detected}.
     *
     * @throws IllegalStateException if there is no runtime
     */
    public static String describeStatus(int status) {
        requireRuntime();
        return CudaNative.errorName(status) + ": " + CudaNative.errorText(status);
    }

    /** Throws unless there are a runtime, a driver and a device. */
    static void require() {
        require(devices());
    }

    private static void requireRuntime() {
        require(runtime());
    }

    private static void require(Availability availability) {
        if (availability instanceof Availability.Absent absent) {
            throw new IllegalStateException(absent.toString());
        }
    }

    /** Writes a version number such as 12090 as 12.9. */
    static String version(int number) {
        return number / 1000 + "." + number % 1000 / 10;
    }

    private static Loaded loadRuntime() {
        LibrarySearch search = new LibrarySearch(
                "cudart",
                "CUDA runtime",
                List.of("libcudart.so.13", "libcudart.so.12"),
                List.of("cuda12/nvidia/cuda_runtime/lib", "cuda13/nvidia/cu13/lib"),
                LibrarySearch.toolkitFolders(),
                "run scripts/fetch-natives, install the CUDA toolkit, or name it by the property kvtier.cudart.path");
        return switch (search.run()) {
            case LibrarySearch.Result.Missing(Availability.Absent absent) -> new Loaded(absent, 0);
            case LibrarySearch.Result.Found(SharedLibrary library) -> useRuntime(library);
        };
    }

    private static Loaded useRuntime(SharedLibrary library) {
        List<String> missing = library.missing(REQUIRED);
        if (!missing.isEmpty()) {
            return unusable(
                    library.name() + " is no CUDA runtime that kvtier can use: it lacks " + String.join(", ", missing));
        }
        NativeLibraries.loaded("cuda", library);
        int number = ask(CudaApi::cudaRuntimeGetVersion);
        int major = number / 1000;
        if (major < OLDEST_MAJOR || major > NEWEST_MAJOR) {
            return unusable(library.name() + " is version " + version(number) + "; kvtier knows " + OLDEST_MAJOR
                    + " and " + NEWEST_MAJOR);
        }
        return new Loaded(Availability.present("CUDA runtime", library.name(), version(number)), number);
    }

    private static Loaded unusable(String reason) {
        return new Loaded(Availability.absent("CUDA runtime", reason), 0);
    }

    private static Availability findDevices() {
        if (runtime() instanceof Availability.Absent absent) {
            return Availability.absent("CUDA devices", absent.reason());
        }
        int driver = ask(CudaApi::cudaDriverGetVersion);
        if (driver == 0) {
            return Availability.absent(
                    "CUDA devices", "there is no NVIDIA driver; install one on a machine with a GPU");
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment count = arena.allocate(JAVA_INT);
            int status = CudaApi.cudaGetDeviceCount(count);
            return status == 0 && count.get(JAVA_INT, 0) > 0
                    ? Availability.present(
                            "CUDA devices", count.get(JAVA_INT, 0) + " device(s)", "driver for " + version(driver))
                    : Availability.absent("CUDA devices", explain(status, driver));
        }
    }

    private static String explain(int status, int driver) {
        if (status == CudaStatus.SUCCESS || status == CudaApi.cudaErrorNoDevice()) {
            return "the driver for " + version(driver) + " sees no device";
        }
        if (status == CudaApi.cudaErrorInsufficientDriver()) {
            return "the driver is for " + version(driver)
                    + ", older than the runtime needs; install a newer driver, or the runtime of CUDA " + driver / 1000;
        }
        if (status == CudaApi.cudaErrorInitializationError()) {
            return "the driver for " + version(driver) + " cannot be initialised (status " + status + ")";
        }
        return "the runtime answers " + CudaNative.errorName(status) + " (" + status + ") when asked for devices: "
                + CudaNative.errorText(status);
    }

    /** Returns a number, 0 if the question fails. */
    private static int ask(Device.Question question) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment answer = arena.allocate(JAVA_INT);
            return question.ask(answer) == 0 ? answer.get(JAVA_INT, 0) : 0;
        }
    }

    private record Loaded(Availability availability, int version) {}

    private static final class Holder {
        static final Loaded RUNTIME = loadRuntime();
        static final Availability DEVICES = findDevices();
    }
}
