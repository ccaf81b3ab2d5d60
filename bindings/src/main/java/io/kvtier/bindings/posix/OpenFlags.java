package io.kvtier.bindings.posix;

import io.kvtier.bindings.posix.NativeFile.Option;
import io.kvtier.bindings.posix.generated.PosixApi;
import java.nio.file.Path;
import java.util.Set;

/** What open(2) is told. */
final class OpenFlags {
    private OpenFlags() {}

    /** Returns the flags for options, or refuses options that make no sense together. */
    static int of(Path path, Set<Option> options) {
        if (options.contains(Option.EXCLUSIVE) && !options.contains(Option.CREATE)) {
            throw new IllegalArgumentException("EXCLUSIVE means nothing without CREATE: " + path + " " + options);
        }
        boolean changes = options.contains(Option.TRUNCATE) || options.contains(Option.CREATE);
        if (changes && !options.contains(Option.WRITE)) {
            throw new IllegalArgumentException("CREATE and TRUNCATE need WRITE: " + path + " " + options);
        }
        int flags = PosixApi.O_CLOEXEC() | access(options);
        for (Option option : options) {
            flags |= flag(option);
        }
        return flags;
    }

    private static int access(Set<Option> options) {
        if (!options.contains(Option.WRITE)) {
            return PosixApi.O_RDONLY();
        }
        return options.contains(Option.READ) ? PosixApi.O_RDWR() : PosixApi.O_WRONLY();
    }

    private static int flag(Option option) {
        return switch (option) {
            case READ, WRITE -> 0;
            case CREATE -> PosixApi.O_CREAT();
            case EXCLUSIVE -> PosixApi.O_EXCL();
            case TRUNCATE -> PosixApi.O_TRUNC();
            case DIRECT -> Posix.byArchitecture(PosixApi.O_DIRECT_x86_64(), PosixApi.O_DIRECT_aarch64());
            case DSYNC -> PosixApi.O_DSYNC();
            case NO_ATIME -> PosixApi.O_NOATIME();
        };
    }
}
