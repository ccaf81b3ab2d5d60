package io.kvtier.bindings.cufile;

import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.kvtier.bindings.cufile.generated.CUfileError;
import io.kvtier.bindings.cufile.generated.CuFileApi;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * cuFile's settings, without a configuration file. They are set before the driver is opened, and take effect then: over what
 * the environment and the configuration file say. Once it is open, {@link #get} returns what is in effect; before, what was set
 * since the last time, or cuFile's default.
 */
public final class Parameters {
    private static final String SINCE = "1.14";
    private static final long KIB = 1024;
    private static final int LONGEST_TEXT = 4096;

    private Parameters() {}

    /** Settings that are numbers. */
    public enum Size {
        /** Level of the statistics that are written to the log, from 0 for none to 3. */
        STATISTICS_LEVEL(CuFileApi.CUFILE_PARAM_PROFILE_STATS(), 1),
        /** How many requests may wait for the threads that split large I/O. */
        IO_QUEUE_DEPTH(CuFileApi.CUFILE_PARAM_EXECUTION_MAX_IO_QUEUE_DEPTH(), 1),
        /** How many threads split large I/O; 0 for none. */
        IO_THREADS(CuFileApi.CUFILE_PARAM_EXECUTION_MAX_IO_THREADS(), 1),
        /** From which size on I/O is split, in bytes. */
        SPLIT_BYTES(CuFileApi.CUFILE_PARAM_EXECUTION_MIN_IO_THRESHOLD_SIZE_KB(), KIB),
        /** Into how many parts I/O is split at most. */
        SPLIT_PARTS(CuFileApi.CUFILE_PARAM_EXECUTION_MAX_REQUEST_PARALLELISM(), 1),
        /** How much one request to the kernel moves at most, in bytes. */
        MAX_DIRECT_IO_BYTES(CuFileApi.CUFILE_PARAM_PROPERTIES_MAX_DIRECT_IO_SIZE_KB(), KIB),
        /** How much device memory the driver's own buffers may take, in bytes. */
        MAX_DEVICE_CACHE_BYTES(CuFileApi.CUFILE_PARAM_PROPERTIES_MAX_DEVICE_CACHE_SIZE_KB(), KIB),
        /** Size of one of these buffers, in bytes. */
        PER_BUFFER_CACHE_BYTES(CuFileApi.CUFILE_PARAM_PROPERTIES_PER_BUFFER_CACHE_SIZE_KB(), KIB),
        /** How much device memory may be registered, in bytes. */
        MAX_PINNED_BYTES(CuFileApi.CUFILE_PARAM_PROPERTIES_MAX_DEVICE_PINNED_MEM_SIZE_KB(), KIB),
        /** How many operations a batch holds at most. */
        MAX_BATCH_OPERATIONS(CuFileApi.CUFILE_PARAM_PROPERTIES_IO_BATCHSIZE(), 1),
        /** Up to which size I/O polls, if it does, in bytes. */
        POLL_THRESHOLD_BYTES(CuFileApi.CUFILE_PARAM_POLLTHRESHOLD_SIZE_KB(), KIB),
        /** How long the driver itself waits for a batch, in milliseconds. */
        BATCH_TIMEOUT_MILLIS(CuFileApi.CUFILE_PARAM_PROPERTIES_BATCH_IO_TIMEOUT_MS(), 1);

        private final int code;
        private final long unit;

        Size(int code, long unit) {
            this.code = code;
            this.unit = unit;
        }
    }

    /** Settings that are yes or no. */
    public enum Flag {
        /** Small I/O polls for its end. */
        POLL_MODE(CuFileApi.CUFILE_PARAM_PROPERTIES_USE_POLL_MODE()),
        /** I/O may go through the host where the direct way is barred. */
        ALLOW_COMPAT_MODE(CuFileApi.CUFILE_PARAM_PROPERTIES_ALLOW_COMPAT_MODE()),
        /** I/O always goes through the host. */
        FORCE_COMPAT_MODE(CuFileApi.CUFILE_PARAM_FORCE_COMPAT_MODE()),
        /** Each call checks more. */
        CHECK_AGGRESSIVELY(CuFileApi.CUFILE_PARAM_FS_MISC_API_CHECK_AGGRESSIVE()),
        /** Large I/O is split among threads. */
        PARALLEL_IO(CuFileApi.CUFILE_PARAM_EXECUTION_PARALLEL_IO()),
        /** Memory of the host may be read into and written from. */
        ALLOW_SYSTEM_MEMORY(CuFileApi.CUFILE_PARAM_PROPERTIES_ALLOW_SYSTEM_MEMORY()),
        /** The direct way may be the kernel's own, without nvidia-fs. */
        USE_PCI_P2PDMA(CuFileApi.CUFILE_PARAM_USE_PCIP2PDMA()),
        /** io_uring is preferred to the kernel's older queues. */
        PREFER_IO_URING(CuFileApi.CUFILE_PARAM_PREFER_IO_URING()),
        /** Files go past the page cache, however they were opened. */
        FORCE_DIRECT(CuFileApi.CUFILE_PARAM_FORCE_ODIRECT_MODE()),
        /** The driver opens without a look at the PCI tree. */
        SKIP_TOPOLOGY_DETECTION(CuFileApi.CUFILE_PARAM_SKIP_TOPOLOGY_DETECTION()),
        /** I/O of streams does without memory operations of the stream. */
        STREAM_MEMOPS_BYPASS(CuFileApi.CUFILE_PARAM_STREAM_MEMOPS_BYPASS());

        private final int code;

        Flag(int code) {
            this.code = code;
        }
    }

    /** Settings that are texts. */
    public enum Text {
        /** What is logged: {@code ERROR}, {@code WARN}, {@code NOTICE}, {@code INFO}, {@code DEBUG} or {@code TRACE}. */
        LOG_LEVEL(CuFileApi.CUFILE_PARAM_LOGGING_LEVEL()),
        /** Path of the log. */
        LOG_FILE(CuFileApi.CUFILE_PARAM_ENV_LOGFILE_PATH()),
        /** Folder of the log, which gets a name of cuFile's choice. */
        LOG_FOLDER(CuFileApi.CUFILE_PARAM_LOG_DIR());

        private final int code;

        Text(int code) {
            this.code = code;
        }
    }

    /**
     * Sets a number.
     *
     * @throws IllegalArgumentException if it is negative, or bytes that are no multiple of 1024
     * @throws IllegalStateException if cuFile is absent, or its driver is open
     * @throws UnsupportedOperationException if cuFile is too old
     * @throws CuFileException if cuFile refuses; some values it refuses only when its driver is opened
     */
    public static void set(Size size, long value) {
        if (value < 0 || value % size.unit != 0) {
            throw new IllegalArgumentException(size + " must be a multiple of " + size.unit + " from 0, not " + value);
        }
        requireClosed("cuFileSetParameterSizeT");
        CuFileStatus.check(
                "cuFileSetParameterSizeT",
                CuFileApi.cuFileSetParameterSizeT(CuFileStatus.result(), size.code, value / size.unit),
                size + " = " + value);
    }

    /**
     * Sets a flag.
     *
     * @throws IllegalStateException if cuFile is absent, or its driver is open
     * @throws UnsupportedOperationException if cuFile is too old
     * @throws CuFileException if cuFile refuses
     */
    public static void set(Flag flag, boolean value) {
        requireClosed("cuFileSetParameterBool");
        CuFileStatus.check(
                "cuFileSetParameterBool",
                CuFileApi.cuFileSetParameterBool(CuFileStatus.result(), flag.code, value),
                flag + " = " + value);
    }

    /**
     * Sets a text.
     *
     * @throws IllegalArgumentException if it has a NUL or is longer than 4095 bytes
     * @throws IllegalStateException if cuFile is absent, or its driver is open
     * @throws UnsupportedOperationException if cuFile is too old
     * @throws CuFileException if cuFile refuses; some values it refuses only when its driver is opened
     */
    public static void set(Text text, String value) {
        if (value.indexOf(0) >= 0) {
            throw new IllegalArgumentException(text + " must not have a NUL, got " + value.replace('\0', '?'));
        }
        requireClosed("cuFileSetParameterString");
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocateFrom(value);
            if (bytes.byteSize() > LONGEST_TEXT) {
                throw new IllegalArgumentException(
                        text + " may have " + (LONGEST_TEXT - 1) + " bytes, not " + (bytes.byteSize() - 1));
            }
            CuFileStatus.check(
                    "cuFileSetParameterString",
                    CuFileApi.cuFileSetParameterString(CuFileStatus.result(), text.code, bytes),
                    text + " = " + value);
        }
    }

    /**
     * Returns a number; the largest of all where there is no limit.
     *
     * @throws IllegalStateException if cuFile is absent
     * @throws UnsupportedOperationException if cuFile is too old
     * @throws CuFileException if cuFile does not know the setting
     */
    public static long get(Size size) {
        CuFile.requireFunction("cuFileGetParameterSizeT", SINCE);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(JAVA_LONG);
            CuFileStatus.check(
                    "cuFileGetParameterSizeT",
                    CuFileApi.cuFileGetParameterSizeT(CuFileStatus.result(), size.code, value),
                    size.name());
            long number = value.get(JAVA_LONG, 0);
            return number < 0 || number > Long.MAX_VALUE / size.unit ? Long.MAX_VALUE : number * size.unit;
        }
    }

    /**
     * Returns a flag.
     *
     * @throws IllegalStateException if cuFile is absent
     * @throws UnsupportedOperationException if cuFile is too old
     * @throws CuFileException if cuFile does not know the setting
     */
    public static boolean get(Flag flag) {
        CuFile.requireFunction("cuFileGetParameterBool", SINCE);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(JAVA_BOOLEAN);
            CuFileStatus.check(
                    "cuFileGetParameterBool",
                    CuFileApi.cuFileGetParameterBool(CuFileStatus.result(), flag.code, value),
                    flag.name());
            return value.get(JAVA_BOOLEAN, 0);
        }
    }

    /**
     * Returns a text; empty if there is none.
     *
     * @throws IllegalStateException if cuFile is absent
     * @throws UnsupportedOperationException if cuFile is too old
     * @throws CuFileException if cuFile does not know the setting
     */
    public static String get(Text text) {
        CuFile.requireFunction("cuFileGetParameterString", SINCE);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment value = arena.allocate(LONGEST_TEXT);
            MemorySegment error =
                    CuFileApi.cuFileGetParameterString(CuFileStatus.result(), text.code, value, LONGEST_TEXT);
            if (text == Text.LOG_FILE && CUfileError.err(error) == CuFileApi.CU_FILE_INVALID_VALUE()) {
                // So cuFile 1.20 says that there is none.
                return "";
            }
            CuFileStatus.check("cuFileGetParameterString", error, text.name());
            return value.getString(0);
        }
    }

    /** Returns whether a parameter names the log's folder; cuFile keeps the path of the log in the environment. */
    static boolean nameLogFolder() {
        return CuFile.hasFunction("cuFileGetParameterString")
                && !get(Text.LOG_FOLDER).isEmpty();
    }

    private static void requireClosed(String function) {
        CuFile.requireFunction(function, SINCE);
        if (Driver.isOpen()) {
            throw new IllegalStateException("cuFile's driver is open; set parameters before that, or close it first");
        }
    }
}
