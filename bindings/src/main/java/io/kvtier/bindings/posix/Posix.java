package io.kvtier.bindings.posix;

import io.kvtier.bindings.Availability;
import io.kvtier.bindings.posix.generated.PosixApi;
import io.kvtier.bindings.posix.generated.rlimit;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.Charset;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;

/** Whether the calls of this package work here, and what the system allows this process. */
public final class Posix {
    /** What {@link #lockableBytes} and {@link #openFiles} answer where there is no limit. */
    public static final long UNLIMITED = Long.MAX_VALUE;

    private static final String NAME = "the Linux C library";
    private static final Path HUGE_PAGES = Path.of("/sys/kernel/mm/hugepages");
    private static final String HUGE_PAGE_FOLDER = "hugepages-";
    private static final Charset FILE_NAMES = Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));

    private Posix() {}

    /** Returns whether this is a Linux whose calls are known here: 64 bits, x86-64 or AArch64. */
    public static Availability availability() {
        return Holder.AVAILABILITY;
    }

    /** Returns the size of a page of memory, in bytes. */
    public static long pageBytes() {
        require();
        return Holder.PAGE_BYTES;
    }

    /** Returns the physical memory of the machine, in bytes; a container may be allowed less. */
    public static long physicalBytes() {
        return pageBytes() * sysconf(PosixApi._SC_PHYS_PAGES());
    }

    /** Returns how many bytes this process may lock in memory without privilege, or {@link #UNLIMITED}. */
    public static long lockableBytes() {
        return limit(PosixApi.RLIMIT_MEMLOCK());
    }

    /** Returns how many files this process may have open, or {@link #UNLIMITED}. */
    public static long openFiles() {
        return limit(PosixApi.RLIMIT_NOFILE());
    }

    /** Returns the sizes of huge pages that the kernel knows, in bytes, the smallest first; that they exist reserves none. */
    public static List<Long> hugePageSizes() {
        TreeSet<Long> sizes = new TreeSet<>();
        if (Files.isDirectory(HUGE_PAGES)) {
            try (DirectoryStream<Path> folders = Files.newDirectoryStream(HUGE_PAGES, HUGE_PAGE_FOLDER + "*kB")) {
                folders.forEach(
                        folder -> sizes.add(hugePageBytes(folder.getFileName().toString())));
            } catch (IOException e) {
                return List.of();
            }
        }
        return List.copyOf(sizes);
    }

    private static long hugePageBytes(String folder) {
        return 1024 * Long.parseLong(folder.substring(HUGE_PAGE_FOLDER.length(), folder.length() - "kB".length()));
    }

    /** Returns how many buffers one vectored call takes. */
    static int vectorsPerCall() {
        return Holder.VECTORS_PER_CALL;
    }

    static void require() {
        if (availability() instanceof Availability.Absent absent) {
            throw new IllegalStateException(absent.toString());
        }
    }

    /** Picks what differs by architecture; only after {@link #require}. */
    static int byArchitecture(int x86, int arm) {
        return Holder.ARM ? arm : x86;
    }

    /** Returns a path as C text, in the bytes that the JVM itself uses for file names. */
    static MemorySegment text(Arena arena, Path path) {
        if (!path.getFileSystem().equals(FileSystems.getDefault())) {
            throw new IllegalArgumentException(
                    path + " is in " + path.getFileSystem() + "; native calls know the system's own files only");
        }
        byte[] name = path.toString().getBytes(FILE_NAMES);
        MemorySegment text = arena.allocate(name.length + 1L);
        MemorySegment.copy(name, 0, text, ValueLayout.JAVA_BYTE, 0, name.length);
        return text;
    }

    private static long limit(int resource) {
        require();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment limit = rlimit.allocate(arena);
            PosixStatus.check("getrlimit", PosixNative.getrlimit(resource, limit), "resource " + resource);
            long soft = rlimit.rlim_cur(limit);
            return soft == PosixApi.RLIM_INFINITY() ? UNLIMITED : soft;
        }
    }

    private static long sysconf(int name) {
        return PosixStatus.check("sysconf", PosixNative.sysconf(name), "name " + name);
    }

    /** Asks once; nothing here is known before the first question, so no class fails to load elsewhere. */
    private static final class Holder {
        static final boolean ARM = System.getProperty("os.arch").equals("aarch64");
        static final Availability AVAILABILITY = find(System.getProperty("os.name"), System.getProperty("os.arch"));
        static final long PAGE_BYTES = AVAILABILITY.isAvailable() ? sysconf(PosixApi._SC_PAGESIZE()) : 0;
        static final int VECTORS_PER_CALL =
                AVAILABILITY.isAvailable() ? Math.toIntExact(sysconf(PosixApi._SC_IOV_MAX())) : 0;
    }

    /** Says whether a system is one whose constants and layouts this package has. */
    static Availability find(String system, String architecture) {
        if (!system.equals("Linux")) {
            return Availability.absent(NAME, "this is " + system + "; its calls and constants are others");
        }
        if (!architecture.equals("amd64") && !architecture.equals("aarch64")) {
            return Availability.absent(
                    NAME, "Linux on " + architecture + " has other constants than amd64 and aarch64");
        }
        return Availability.present(NAME, "the process itself", "kernel " + System.getProperty("os.version"));
    }
}
