package io.kvtier.bindings.posix;

import io.kvtier.bindings.posix.generated.PosixApi;
import io.kvtier.bindings.posix.generated.iovec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/** The memory and files that the kernel knows beforehand and so need not look up for each operation. */
final class RingRegistrations {
    private static final long LARGEST_BUFFER = 1L << 30;

    private final int descriptor;
    private List<MemorySegment> buffers = List.of();
    private long[] starts = {};
    private long[] ends = {};
    private NativeFile[] files = {};

    RingRegistrations(int descriptor) {
        this.descriptor = descriptor;
    }

    void registerBuffers(List<MemorySegment> memory) {
        if (starts.length != 0) {
            throw new IllegalStateException(
                    "the ring has " + starts.length + " buffers already; unregister them first");
        }
        memory.forEach(RingRegistrations::requireBuffer);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment table = iovec.allocateArray(memory.size(), arena);
            for (int i = 0; i < memory.size(); i++) {
                MemorySegment entry = iovec.asSlice(table, i);
                iovec.iov_base(entry, memory.get(i));
                iovec.iov_len(entry, memory.get(i).byteSize());
            }
            register(
                    PosixApi.IORING_REGISTER_BUFFERS(),
                    table,
                    memory.size(),
                    "buffers; without CAP_IPC_LOCK they count against the limit of locked memory, "
                            + Posix.lockableBytes() + " bytes (ulimit -l)");
        }
        buffers = List.copyOf(memory);
        starts = memory.stream().mapToLong(MemorySegment::address).toArray();
        ends = memory.stream()
                .mapToLong(buffer -> buffer.address() + buffer.byteSize())
                .toArray();
    }

    private static void requireBuffer(MemorySegment buffer) {
        Segments.requireWritable(buffer);
        if (buffer.byteSize() == 0 || buffer.byteSize() > LARGEST_BUFFER) {
            throw new IllegalArgumentException("a registered buffer has 1 to " + LARGEST_BUFFER + " bytes, not "
                    + buffer.byteSize() + "; register larger memory as several buffers");
        }
    }

    void unregisterBuffers() {
        if (!buffers.isEmpty()) {
            register(PosixApi.IORING_UNREGISTER_BUFFERS(), MemorySegment.NULL, 0, "buffers");
        }
        buffers = List.of();
        starts = new long[0];
        ends = new long[0];
    }

    void registerFiles(List<NativeFile> opened) {
        if (files.length != 0) {
            throw new IllegalStateException("the ring has " + files.length + " files already; unregister them first");
        }
        List<NativeFile> held = new ArrayList<>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment table = arena.allocate(ValueLayout.JAVA_INT, opened.size());
            for (NativeFile file : opened) {
                file.users().hold();
                table.setAtIndex(ValueLayout.JAVA_INT, held.size(), file.number());
                held.add(file);
            }
            register(PosixApi.IORING_REGISTER_FILES(), table, held.size(), "files");
        } catch (IllegalStateException | PosixException e) {
            held.forEach(file -> file.users().release());
            throw e;
        }
        files = held.toArray(NativeFile[]::new);
    }

    void unregisterFiles() {
        if (files.length != 0) {
            register(PosixApi.IORING_UNREGISTER_FILES(), MemorySegment.NULL, 0, "files");
        }
        releaseFiles();
    }

    /** Lets go of the files; the kernel has forgotten them, or does so when the ring is closed. */
    void releaseFiles() {
        for (NativeFile file : files) {
            file.users().release();
        }
        files = new NativeFile[0];
    }

    /** Returns the number of the buffer that contains a range, or -1. */
    int buffer(long address, long bytes) {
        for (int i = 0; i < starts.length; i++) {
            if (address >= starts[i] && address + bytes <= ends[i]) {
                // Behind an address that was closed and mapped anew the kernel still has the old pages.
                return buffers.get(i).scope().isAlive() ? i : -1;
            }
        }
        return -1;
    }

    /** Returns the number of a file, or -1. */
    @SuppressWarnings("ReferenceEquality") // only the very object has been registered
    int file(NativeFile file) {
        for (int i = 0; i < files.length; i++) {
            if (files[i] == file) {
                return i;
            }
        }
        return -1;
    }

    private void register(int what, MemorySegment table, int count, String arguments) {
        long answer = PosixNative.ioUringRegister(descriptor, what, table, count);
        PosixStatus.check("io_uring_register", answer, count + " " + arguments);
    }
}
