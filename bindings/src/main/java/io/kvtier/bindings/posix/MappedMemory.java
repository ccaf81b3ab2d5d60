package io.kvtier.bindings.posix;

import io.kvtier.bindings.Hold;
import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.internal.InFlight;
import io.kvtier.bindings.posix.generated.PosixApi;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;

/**
 * Memory that the kernel maps for this process: anonymous, of huge pages, or of a file. Its pages come when they are first
 * touched, so making it costs the same at any size. For any number of threads. Whoever makes it closes it; then its segment
 * is invalid for all threads.
 */
public final class MappedMemory implements AutoCloseable {
    private static final String KIND = "posix.memory";
    private static final LongAdder LIVE_BYTES = new LongAdder();
    private static final long MAP_FAILED = -1;
    private static final int NO_FILE = -1;

    /** How to map memory. */
    public enum Option {
        /** Take no part in the kernel's accounting of promised memory: more may be mapped than there is. */
        NO_RESERVE,
        /** Make all pages present now; the kernel does not say if it could not. */
        POPULATE
    }

    private final String name;
    private final Arena arena;
    private final MemorySegment segment;
    private final InFlight users;

    private MappedMemory(String name, MemorySegment address, long bytes, boolean writable) {
        this.name = name;
        this.arena = sharedArena();
        MemorySegment mapped = address.reinterpret(bytes, arena, memory -> unmap(memory, bytes));
        this.segment = writable ? mapped : mapped.asReadOnly();
        this.users = new InFlight("the memory " + name);
        LIVE_BYTES.add(bytes);
        NativeHandles.opened(KIND);
    }

    /** Maps zeros, aligned to a page of memory. */
    public static MappedMemory anonymous(long bytes, Option... options) {
        return anonymous(bytes, Posix.pageBytes(), options);
    }

    /**
     * Maps zeros.
     *
     * @param alignment a power of two, a page of memory at least; transparent huge pages want their own size
     * @throws PosixException with ENOMEM if the kernel refuses so much
     */
    public static MappedMemory anonymous(long bytes, long alignment, Option... options) {
        long page = Posix.pageBytes();
        requireSize(bytes);
        if (alignment < page || Long.bitCount(alignment) != 1) {
            throw new IllegalArgumentException(
                    "an alignment must be a power of two and " + page + " at least, not " + alignment);
        }
        long rounded = Math.addExact(bytes, page - 1) & -page;
        long most = Math.addExact(rounded, alignment - page);
        String name = bytes + " anonymous bytes";
        MemorySegment whole = mmap(most, READ_WRITE, anonymousFlags(options), NO_FILE, 0, name);
        long before = -whole.address() & (alignment - 1);
        unmapUnlessEmpty(whole.address(), before);
        unmapUnlessEmpty(whole.address() + before + rounded, most - before - rounded);
        return new MappedMemory(name, MemorySegment.ofAddress(whole.address() + before), bytes, true);
    }

    /**
     * Maps zeros in huge pages that the administrator has reserved.
     *
     * @param bytes a multiple of the page size
     * @param hugePageBytes one of {@link Posix#hugePageSizes}
     * @throws PosixException with ENOMEM if too few are reserved
     */
    public static MappedMemory hugePages(long bytes, long hugePageBytes, Option... options) {
        Posix.require();
        requireSize(bytes);
        if (!Posix.hugePageSizes().contains(hugePageBytes)) {
            throw new IllegalArgumentException("there are no huge pages of " + hugePageBytes
                    + " bytes here; the kernel knows " + Posix.hugePageSizes());
        }
        if (bytes % hugePageBytes != 0) {
            throw new IllegalArgumentException(bytes + " bytes are no multiple of a huge page of " + hugePageBytes);
        }
        int size = Long.numberOfTrailingZeros(hugePageBytes) << PosixApi.MAP_HUGE_SHIFT();
        String name = bytes + " bytes of huge pages of " + hugePageBytes;
        int flags = anonymousFlags(options) | PosixApi.MAP_HUGETLB() | size;
        String advice = name + "; reserve them in /sys/kernel/mm/hugepages/hugepages-" + hugePageBytes / 1024
                + "kB/nr_hugepages, or use transparent ones";
        return new MappedMemory(name, mmap(bytes, READ_WRITE, flags, NO_FILE, 0, advice), bytes, true);
    }

    /**
     * Maps a range of a file, shared with all who map it. The file may be closed afterwards. It must not get shorter while
     * it is mapped: touching what is gone fails.
     *
     * @param position a multiple of a page of memory
     * @param writable whether it may be written; the file must have been opened for that
     */
    public static MappedMemory ofFile(NativeFile file, long position, long bytes, boolean writable) {
        requireSize(bytes);
        long size = file.size();
        if (position < 0 || position % Posix.pageBytes() != 0 || bytes > size - position) {
            throw new IllegalArgumentException("cannot map " + bytes + " bytes at " + position + " of " + file.path()
                    + ": it has " + size + " bytes, and ranges start at multiples of " + Posix.pageBytes());
        }
        try (Hold _ = file.hold()) {
            int protection = writable ? READ_WRITE : PosixApi.PROT_READ();
            return ofDescriptor(file.path(), file.descriptor(), position, bytes, protection, PosixApi.MAP_SHARED());
        }
    }

    /** Maps what a descriptor stands for. */
    static MappedMemory ofDescriptor(
            String name, int descriptor, long position, long bytes, int protection, int flags) {
        MemorySegment address = mmap(bytes, protection, flags, descriptor, position, name);
        return new MappedMemory(name, address, bytes, (protection & PosixApi.PROT_WRITE()) != 0);
    }

    static final int READ_WRITE = PosixApi.PROT_READ() | PosixApi.PROT_WRITE();

    private static int anonymousFlags(Option... options) {
        int flags = PosixApi.MAP_PRIVATE() | PosixApi.MAP_ANONYMOUS();
        Set<Option> set = EnumSet.noneOf(Option.class);
        set.addAll(List.of(options));
        for (Option option : set) {
            flags |= switch (option) {
                case NO_RESERVE -> PosixApi.MAP_NORESERVE();
                case POPULATE -> PosixApi.MAP_POPULATE();
            };
        }
        return flags;
    }

    private static MemorySegment mmap(
            long bytes, int protection, int flags, int descriptor, long position, String arguments) {
        MemorySegment address = PosixNative.mmap(MemorySegment.NULL, bytes, protection, flags, descriptor, position);
        if (address.address() == MAP_FAILED) {
            throw PosixStatus.failure("mmap", arguments + ", " + bytes + " bytes at " + position);
        }
        return address;
    }

    private static void unmapUnlessEmpty(long address, long bytes) {
        if (bytes > 0) {
            unmap(MemorySegment.ofAddress(address), bytes);
        }
    }

    private static void unmap(MemorySegment address, long bytes) {
        PosixStatus.check("munmap", PosixNative.munmap(address, bytes), bytes + " bytes");
    }

    private static void requireSize(long bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("memory must have 1 byte at least, not " + bytes);
        }
    }

    /** Returns the bytes of all mapped memory of this process that is not closed. */
    public static long liveBytes() {
        return LIVE_BYTES.sum();
    }

    /** Returns the memory; it is valid until this is closed. */
    public MemorySegment segment() {
        return segment;
    }

    /**
     * Keeps the memory open until the result is closed, for native code that uses it beyond a call.
     *
     * @throws IllegalStateException if it is closed
     */
    public Hold hold() {
        return users.holdUntilClosed();
    }

    /** Tells the kernel what to expect of all of it. */
    public void advise(Advice advice) {
        advise(advice, 0, segment.byteSize());
    }

    /**
     * Tells the kernel what to expect of a range.
     *
     * @param offset a multiple of a page of memory
     * @throws PosixException if the kernel does not take it: EINVAL for advice that it does not know, ENOMEM, ...
     */
    public void advise(Advice advice, long offset, long bytes) {
        MemorySegment range = range(offset, bytes);
        int answer;
        do {
            answer = PosixNative.madvise(range, bytes, advice.code());
        } while (PosixStatus.interrupted(answer));
        PosixStatus.check("madvise", answer, advice + " for " + arguments(offset, bytes));
    }

    /** Makes all of it present and keeps it in memory. */
    public void lock() {
        lock(0, segment.byteSize());
    }

    /**
     * Makes a range present and keeps it in memory.
     *
     * @param offset a multiple of a page of memory
     * @throws PosixException with ENOMEM or EPERM if the process may not lock so much
     */
    public void lock(long offset, long bytes) {
        int answer = PosixNative.mlock(range(offset, bytes), bytes);
        if (answer < 0) {
            throw PosixStatus.failure(
                    "mlock",
                    arguments(offset, bytes) + "; without the privilege CAP_IPC_LOCK this process may lock "
                            + Posix.lockableBytes() + " bytes (ulimit -l)");
        }
    }

    /** Lets the kernel page a range out again. */
    public void unlock(long offset, long bytes) {
        PosixStatus.check("munlock", PosixNative.munlock(range(offset, bytes), bytes), arguments(offset, bytes));
    }

    private MemorySegment range(long offset, long bytes) {
        MemorySegment range = Segments.slice(Segments.requireNative(segment), offset, bytes);
        if (offset % Posix.pageBytes() != 0) {
            throw new IllegalArgumentException(
                    "offset " + offset + " is no multiple of a page of memory, " + Posix.pageBytes() + " bytes");
        }
        return range;
    }

    private String arguments(long offset, long bytes) {
        return bytes + " bytes at " + offset + " of the memory " + name;
    }

    /**
     * Unmaps the memory; threads that read or write it from Java get an exception. Closing twice does nothing.
     *
     * @throws IllegalStateException if there is a {@link #hold} on it or a native call is using it: it stays open
     */
    @Override
    public synchronized void close() {
        if (users.close()) {
            unmap();
            LIVE_BYTES.add(-segment.byteSize());
            NativeHandles.closed(KIND);
        }
    }

    private void unmap() {
        try {
            arena.close();
        } catch (IllegalStateException e) {
            users.reopen();
            throw new IllegalStateException(
                    "the memory " + name + " stays open: a native call uses it; close it again when that has ended", e);
        }
    }

    /** Returns whether {@link #close} has succeeded. */
    public boolean isClosed() {
        return users.isClosed();
    }

    @SuppressWarnings("MustBeClosedChecker") // close() closes it
    private static Arena sharedArena() {
        return Arena.ofShared();
    }

    @Override
    public String toString() {
        return "MappedMemory[" + name + (users.isClosed() ? ", closed]" : "]");
    }
}
