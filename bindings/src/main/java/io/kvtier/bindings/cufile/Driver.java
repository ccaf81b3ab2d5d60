package io.kvtier.bindings.cufile;

import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.cufile.generated.CUfileDrvProps;
import io.kvtier.bindings.cufile.generated.CuFileApi;
import io.kvtier.bindings.internal.InFlight;
import io.kvtier.bindings.internal.LibcNative;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/**
 * cuFile's driver, opened. It may be opened more than once: cuFile counts, and gives its resources back with the last. Files,
 * buffers and batches belong to the driver that they were made with; the caller closes them first. Safe for all threads.
 */
public final class Driver implements AutoCloseable {
    private static final String KIND = "cufile.driver";
    private static final long KIB = 1024;

    /** How many drivers are open; written by synchronized methods only. */
    private static volatile int open;

    private final InFlight users = new InFlight("cuFile's driver");

    private Driver() {
        NativeHandles.opened(KIND);
    }

    /**
     * Opens the driver, after {@link CuFile#requireDriverCanOpen}. cuFile writes a log, by itself into the working folder:
     * it is sent to {@code cufile_PID.log} in {@code java.io.tmpdir} instead, unless the variable {@code CUFILE_LOGFILE_PATH},
     * {@code logging.dir} in cuFile's configuration file or {@link Parameters} say otherwise.
     *
     * @throws IllegalStateException if it cannot be opened here; says why
     * @throws CuFileException if cuFile refuses
     */
    public static Driver open() {
        CuFile.requireDriverCanOpen();
        if (!ConfigFile.inUse().namesLogFolder() && !Parameters.nameLogFolder()) {
            Path log = Path.of(
                    System.getProperty("java.io.tmpdir"),
                    "cufile_" + ProcessHandle.current().pid() + ".log");
            LibcNative.setEnvironmentIfAbsent(
                    "CUFILE_LOGFILE_PATH", log.toAbsolutePath().toString());
        }
        openNative();
        return new Driver();
    }

    private static synchronized void openNative() {
        CuFileStatus.check("cuFileDriverOpen", CuFileApi.cuFileDriverOpen(CuFileStatus.result()), "");
        open++;
    }

    /** Returns whether a driver of this process is open. */
    static boolean isOpen() {
        return open > 0;
    }

    /** Returns the driver's limits and abilities. */
    public DriverProperties properties() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment properties = CUfileDrvProps.allocate(arena);
            call(
                    "cuFileDriverGetProperties",
                    () -> CuFileApi.cuFileDriverGetProperties(CuFileStatus.result(), properties),
                    "");
            return DriverProperties.of(properties);
        }
    }

    /** Returns which way I/O takes: what the driver says of itself, and the reasons where that is not the direct way. */
    public IoPath ioPath() {
        return Obstacles.of(properties());
    }

    /** Returns how often cuFile's driver is open in this process. */
    public long useCount() {
        users.enter();
        try {
            return CuFileApi.cuFileUseCount();
        } finally {
            users.exit();
        }
    }

    /**
     * Lets small direct reads and writes poll for their end.
     *
     * @param thresholdBytes up to which size they poll; a multiple of 1024
     */
    public void setPollMode(boolean poll, long thresholdBytes) {
        long size = kib("poll threshold", thresholdBytes);
        call(
                "cuFileDriverSetPollMode",
                () -> CuFileApi.cuFileDriverSetPollMode(CuFileStatus.result(), poll, size),
                poll + ", " + thresholdBytes + " bytes");
    }

    /** Sets how much one request to the kernel moves at most; a multiple of 64 KiB. */
    public void setMaxDirectIoSize(long bytes) {
        long size = kib("largest direct I/O", bytes);
        call(
                "cuFileDriverSetMaxDirectIOSize",
                () -> CuFileApi.cuFileDriverSetMaxDirectIOSize(CuFileStatus.result(), size),
                bytes + " bytes");
    }

    /** Sets how much device memory the driver's own buffers may take; a multiple of 64 KiB. */
    public void setMaxCacheSize(long bytes) {
        long size = kib("device cache", bytes);
        call(
                "cuFileDriverSetMaxCacheSize",
                () -> CuFileApi.cuFileDriverSetMaxCacheSize(CuFileStatus.result(), size),
                bytes + " bytes");
    }

    /** Sets how much device memory may be pinned, that is registered; a multiple of 64 KiB. */
    public void setMaxPinnedMemory(long bytes) {
        long size = kib("pinned memory", bytes);
        call(
                "cuFileDriverSetMaxPinnedMemSize",
                () -> CuFileApi.cuFileDriverSetMaxPinnedMemSize(CuFileStatus.result(), size),
                bytes + " bytes");
    }

    /**
     * Lets cuFile count from 0, for the whole process, until {@link #stopStatistics} or until the last driver is closed.
     *
     * @throws UnsupportedOperationException if cuFile is too old: 1.14 is, 1.20 is not
     */
    public void startStatistics() {
        users.enter();
        try {
            Counting.start();
        } finally {
            users.exit();
        }
    }

    /**
     * Returns what cuFile has counted.
     *
     * @throws IllegalStateException if it does not count
     */
    public Statistics statistics() {
        users.enter();
        try {
            return Counting.read();
        } finally {
            users.exit();
        }
    }

    /** Lets cuFile count no longer, and forgets what it has counted. */
    public void stopStatistics() {
        users.enter();
        try {
            Counting.stop();
        } finally {
            users.exit();
        }
    }

    /**
     * Waits up to 10 seconds for calls of other threads and closes the driver. Closing twice does nothing.
     *
     * @throws IllegalStateException if files, buffers, batches or streams of it are not closed, or a call does not end: it
     *     stays open
     * @throws CuFileException if cuFile tells of an error; it is closed nevertheless
     */
    @Override
    public void close() {
        if (users.close()) {
            NativeHandles.closed(KIND);
            closeNative();
        }
    }

    /** Returns who uses the driver: what is made with it holds it open. */
    InFlight users() {
        return users;
    }

    interface Call {
        MemorySegment run();
    }

    /** Makes a call while the driver cannot be closed. */
    void call(String function, Call call, String arguments) {
        users.enter();
        try {
            CuFileStatus.check(function, call.run(), arguments);
        } finally {
            users.exit();
        }
    }

    private static synchronized void closeNative() {
        MemorySegment error = CuFile.hasFunction("cuFileDriverClose_v2")
                ? CuFileApi.cuFileDriverClose_v2(CuFileStatus.result())
                : CuFileApi.cuFileDriverClose(CuFileStatus.result());
        open--;
        if (open == 0) {
            Counting.ended();
        }
        CuFileStatus.check("cuFileDriverClose", error, "");
    }

    private static long kib(String name, long bytes) {
        if (bytes < 0 || bytes % KIB != 0) {
            throw new IllegalArgumentException(
                    "the " + name + " must be a multiple of " + KIB + " bytes, not " + bytes);
        }
        return bytes / KIB;
    }
}
