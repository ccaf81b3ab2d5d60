package io.kvtier.bindings.nixl;

import io.kvtier.bindings.cuda.DeviceMemory;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * A list of places of one memory type: what is registered, what a transfer reads or writes, what is asked for. All is
 * checked here, before NIXL sees it. Not thread-safe; it may be reused for any number of calls, which take what it holds
 * then: what is added later is not theirs.
 */
public final class Descriptors {
    private static final String NO_METADATA = "";
    /** Linux moves less than 2 GiB at a time, and NIXL does not split. */
    static final long MAX_BYTES = 1L << 30;

    /** What an entry may be used for. */
    enum Use {
        /** Registered, transferred. */
        ANY,
        /** Transferred: the file was registered under its number. */
        TRANSFER,
        /** Asked for. */
        QUERY
    }

    record Entry(long address, long length, long device, String metadata, Use use) {
        long end() {
            return address + length;
        }
    }

    private final MemoryType type;
    private final List<Entry> entries;
    // Whoever holds the list keeps the memory reachable.
    private final List<MemorySegment> segments;

    private Descriptors(MemoryType type, List<Entry> entries, List<MemorySegment> segments) {
        this.type = type;
        this.entries = entries;
        this.segments = segments;
    }

    /** Returns an empty list of a type. */
    public static Descriptors of(MemoryType type) {
        return new Descriptors(Objects.requireNonNull(type, "type"), new ArrayList<>(), new ArrayList<>());
    }

    /**
     * Adds a native memory segment of the host.
     *
     * @throws IllegalArgumentException if it is on the Java heap, empty or closed, or the list is of another type
     */
    public Descriptors add(MemorySegment segment) {
        return add(segment, 0, segment.byteSize());
    }

    /**
     * Adds part of a native memory segment of the host.
     *
     * @throws IllegalArgumentException if it is on the Java heap or closed, {@code length} is below 1, or the list is of
     *     another type
     * @throws IndexOutOfBoundsException if the part is not in the segment
     */
    public Descriptors add(MemorySegment segment, long offset, long length) {
        require(MemoryType.DRAM);
        if (!segment.isNative()) {
            throw new IllegalArgumentException("NIXL needs native memory, got a heap segment of " + segment.byteSize()
                    + " bytes; allocate it in an arena");
        }
        if (!segment.scope().isAlive()) {
            throw new IllegalArgumentException("the segment of " + segment.byteSize() + " bytes is closed");
        }
        Objects.checkFromIndexSize(offset, length, segment.byteSize());
        segments.add(segment);
        return add(segment.address() + offset, length, 0, NO_METADATA);
    }

    /**
     * Adds host memory of another agent, which must have registered it and told its address. Not for this agent's own.
     *
     * @param address where it lies in the other agent's process
     * @param length bytes
     */
    public Descriptors addRemote(long address, long length) {
        require(MemoryType.DRAM);
        return add(address, length, 0, NO_METADATA, Use.TRANSFER);
    }

    /**
     * Adds device memory.
     *
     * @param address device address
     * @param length bytes
     * @param ordinal CUDA device
     */
    public Descriptors addDevice(long address, long length, int ordinal) {
        require(MemoryType.VRAM);
        if (ordinal < 0) {
            throw new IllegalArgumentException("CUDA device " + ordinal + " is negative");
        }
        return add(address, length, ordinal, NO_METADATA);
    }

    /**
     * Adds part of device memory, which must stay open until its registration is closed.
     *
     * @throws IllegalArgumentException if {@code length} is below 1, or the list is of another type
     * @throws IndexOutOfBoundsException if the part is not in the memory
     */
    public Descriptors addDevice(DeviceMemory memory, long offset, long length) {
        Objects.checkFromIndexSize(offset, length, memory.byteSize());
        return addDevice(memory.address() + offset, length, memory.device().ordinal());
    }

    /**
     * Adds part of an open file. The descriptor stays the caller's, who closes it after the registration.
     *
     * @param fileDescriptor an open file descriptor
     * @param offset first byte
     * @param length bytes
     */
    public Descriptors addFile(int fileDescriptor, long offset, long length) {
        require(MemoryType.FILE);
        if (fileDescriptor < 0) {
            throw new IllegalArgumentException("file descriptor " + fileDescriptor + " is negative");
        }
        return add(offset, length, fileDescriptor, NO_METADATA);
    }

    /**
     * Adds part of a file that the backend opens when it is registered and closes when the registration ends.
     *
     * @param id a number that no other file of the backend has
     * @param mode {@code ro} or {@code rw}, then any of {@code ,direct}, {@code ,sync}, {@code ,create}
     * @param path the file; no NUL
     * @param offset first byte
     * @param length bytes
     */
    public Descriptors addPath(long id, String mode, String path, long offset, long length) {
        require(MemoryType.FILE);
        if (!mode.matches("r[ow](,(direct|sync|noatime|create))*")) {
            throw new IllegalArgumentException(
                    "file mode must be ro or rw and any of ,direct ,sync ,noatime ,create; got '" + mode + "'");
        }
        return add(offset, length, id, text("path", mode + ":" + path));
    }

    /**
     * Adds part of a file that was registered by its path.
     *
     * @param id the number that it was registered with
     * @param offset first byte
     * @param length bytes
     */
    public Descriptors addRegisteredPath(long id, long offset, long length) {
        require(MemoryType.FILE);
        return add(offset, length, id, NO_METADATA, Use.TRANSFER);
    }

    /**
     * Adds a path to ask for with {@link Agent#query}.
     *
     * @throws IllegalArgumentException if the path has a NUL
     */
    public Descriptors addPath(String path) {
        require(MemoryType.FILE);
        return add(0, 1, entries.size(), text("path", path), Use.QUERY);
    }

    /**
     * Adds part of an object.
     *
     * @param id a number that no other object of the backend has
     * @param key the object's key; no NUL
     * @param offset first byte; 0 for writes
     * @param length bytes
     */
    public Descriptors addObject(long id, String key, long offset, long length) {
        require(MemoryType.OBJECT);
        return add(offset, length, id, text("key", key));
    }

    /**
     * Adds blocks.
     *
     * @param device backend-specific device number
     * @param offset first byte
     * @param length bytes
     */
    public Descriptors addBlock(long device, long offset, long length) {
        require(MemoryType.BLOCK);
        return add(offset, length, device, NO_METADATA);
    }

    /** Returns the memory type of all entries. */
    public MemoryType type() {
        return type;
    }

    /** Returns the number of entries. */
    public int size() {
        return entries.size();
    }

    /** Returns the bytes of all entries. */
    public long bytes() {
        return entries.stream().mapToLong(Entry::length).sum();
    }

    List<Entry> entries() {
        return entries;
    }

    /** Returns what the list holds now. */
    Descriptors snapshot() {
        return new Descriptors(type, List.copyOf(entries), List.copyOf(segments));
    }

    /** Throws if there is no entry, or one is not meant for some use. */
    Descriptors requireFor(Use use) {
        if (entries.isEmpty()) {
            throw new IllegalArgumentException("there must be at least one descriptor");
        }
        for (Entry entry : entries) {
            if (entry.use() == Use.QUERY ? use != Use.QUERY : entry.use() == Use.TRANSFER && use == Use.ANY) {
                throw new IllegalArgumentException(
                        entry.use() == Use.QUERY
                                ? "the path '" + entry.metadata() + "' can only be asked for; add it with a mode and id"
                                : type + " " + entry.device() + " at " + entry.address() + " was added as registered"
                                        + " already; to register it, name its path or segment");
            }
        }
        return this;
    }

    /** Throws if a segment was closed meanwhile. Allocates nothing. */
    void requireAlive() {
        for (int i = 0; i < segments.size(); i++) {
            if (!segments.get(i).scope().isAlive()) {
                throw closed(segments.get(i));
            }
        }
    }

    @Override
    public String toString() {
        return size() + " descriptors of type " + type + ", " + bytes() + " bytes";
    }

    private static IllegalStateException closed(MemorySegment segment) {
        return new IllegalStateException("memory of " + segment.byteSize() + " bytes at 0x"
                + Long.toHexString(segment.address()) + " was closed before its transfer");
    }

    private void require(MemoryType expected) {
        if (type != expected) {
            throw new IllegalArgumentException("these descriptors are of type " + type + ", not " + expected);
        }
    }

    private Descriptors add(long address, long length, long device, String metadata) {
        return add(address, length, device, metadata, Use.ANY);
    }

    private Descriptors add(long address, long length, long device, String metadata, Use use) {
        if (length < 1 || address < 0 || address > Long.MAX_VALUE - length) {
            throw new IllegalArgumentException("a descriptor needs a length of at least 1 and no negative address, got "
                    + length + " at " + address);
        }
        entries.add(new Entry(address, length, device, metadata, use));
        return this;
    }

    private static String text(String name, String value) {
        return Names.require(name, value);
    }
}
