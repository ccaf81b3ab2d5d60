package io.kvtier.bindings.posix;

import io.kvtier.bindings.Availability;
import io.kvtier.bindings.internal.Errno;
import io.kvtier.bindings.posix.generated.PosixApi;
import io.kvtier.bindings.posix.generated.io_uring_params;
import io.kvtier.bindings.posix.generated.io_uring_probe;
import io.kvtier.bindings.posix.generated.io_uring_probe_op;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Finds out whether the kernel lets this process have rings with the operations that are needed. */
final class RingProbe {
    private static final String NAME = "io_uring";
    private static final String INSTEAD = "; files are read and written by blocking calls instead";
    private static final Path DISABLED = Path.of("/proc/sys/kernel/io_uring_disabled");
    private static final int MOST_OPERATIONS = 256;
    private static final int FEATURES =
            PosixApi.IORING_FEAT_SINGLE_MMAP() | PosixApi.IORING_FEAT_NODROP() | PosixApi.IORING_FEAT_SUBMIT_STABLE();
    private static final List<Integer> OPERATIONS = List.of(
            PosixApi.IORING_OP_NOP(),
            PosixApi.IORING_OP_READ(),
            PosixApi.IORING_OP_WRITE(),
            PosixApi.IORING_OP_READV(),
            PosixApi.IORING_OP_WRITEV(),
            PosixApi.IORING_OP_READ_FIXED(),
            PosixApi.IORING_OP_WRITE_FIXED(),
            PosixApi.IORING_OP_FSYNC(),
            PosixApi.IORING_OP_FALLOCATE(),
            PosixApi.IORING_OP_TIMEOUT(),
            PosixApi.IORING_OP_ASYNC_CANCEL());

    private RingProbe() {}

    static Availability availability() {
        return Holder.AVAILABILITY;
    }

    private static Availability probe() {
        if (Posix.availability() instanceof Availability.Absent absent) {
            return Availability.absent(NAME, absent.toString());
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment parameters = io_uring_params.allocate(arena);
            int ring = RingKernel.setup(1, parameters);
            try {
                return judge(io_uring_params.features(parameters), ring, arena);
            } finally {
                PosixNative.close(ring);
            }
        } catch (PosixException e) {
            return absent((int) e.code(), disabled());
        }
    }

    private static Availability judge(int features, int ring, Arena arena) {
        if ((features & FEATURES) != FEATURES) {
            return absentSince("lacks features: it has 0x" + Integer.toHexString(features));
        }
        MemorySegment answer =
                arena.allocate(io_uring_probe.sizeof() + MOST_OPERATIONS * io_uring_probe_op.sizeof(), Long.BYTES);
        long status = PosixNative.ioUringRegister(ring, PosixApi.IORING_REGISTER_PROBE(), answer, MOST_OPERATIONS);
        if (status < 0) {
            return absentSince("cannot say which operations it has (" + Errno.name(Errno.last()) + ")");
        }
        List<Integer> missing =
                OPERATIONS.stream().filter(code -> !supports(answer, code)).toList();
        return missing.isEmpty()
                ? Availability.present(NAME, "system calls", "kernel " + System.getProperty("os.version"))
                : absentSince("lacks the operations " + missing);
    }

    private static boolean supports(MemorySegment answer, int code) {
        MemorySegment operation =
                answer.asSlice(io_uring_probe.sizeof() + code * io_uring_probe_op.sizeof(), io_uring_probe_op.sizeof());
        return code < Byte.toUnsignedInt(io_uring_probe.ops_len(answer))
                && (io_uring_probe_op.flags(operation) & PosixApi.IO_URING_OP_SUPPORTED()) != 0;
    }

    private static Availability absentSince(String reason) {
        return Availability.absent(
                NAME,
                "the kernel " + System.getProperty("os.version") + " " + reason + "; it takes Linux 5.6" + INSTEAD);
    }

    /** Says what a refusal of the kernel means. */
    static Availability absent(int errno, String disabled) {
        String name = "io_uring_setup: " + Errno.name(errno);
        if (errno == PosixApi.ENOSYS()) {
            return Availability.absent(
                    NAME, "the kernel has none, or a container's seccomp profile hides it (" + name + ")" + INSTEAD);
        }
        if (errno == PosixApi.EPERM() || errno == PosixApi.EACCES()) {
            return Availability.absent(
                    NAME,
                    "this process may not use it (" + name + "): kernel.io_uring_disabled is " + disabled
                            + ", or a container's seccomp profile forbids it" + INSTEAD);
        }
        return Availability.absent(NAME, "the kernel refuses a ring (" + name + ")" + INSTEAD);
    }

    private static String disabled() {
        try {
            return Files.readString(DISABLED).strip();
        } catch (IOException e) {
            return "not there";
        }
    }

    private static final class Holder {
        static final Availability AVAILABILITY = probe();
    }
}
