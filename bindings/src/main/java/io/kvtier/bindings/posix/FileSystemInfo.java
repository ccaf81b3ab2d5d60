package io.kvtier.bindings.posix;

import io.kvtier.bindings.posix.generated.PosixApi;
import io.kvtier.bindings.posix.generated.statfs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;

/**
 * A file system at one moment.
 *
 * @param type which one it is
 * @param magic the number by which the kernel tells it
 * @param blockBytes the size that it likes for reads and writes
 * @param totalBytes its size
 * @param freeBytes what is free
 * @param availableBytes what is free for this user
 */
public record FileSystemInfo(
        Type type, long magic, long blockBytes, long totalBytes, long freeBytes, long availableBytes) {

    /** The file systems that matter to a cache. */
    public enum Type {
        /** Memory; also {@code /dev/shm}. */
        TMPFS,
        /** Huge pages. */
        HUGETLBFS,
        /** ext2, ext3 and ext4. */
        EXT4,
        /** XFS. */
        XFS,
        /** Btrfs. */
        BTRFS,
        /** The layers of a container. */
        OVERLAY,
        /** NFS. */
        NFS,
        /** A process serves it. */
        FUSE,
        /** Another one; see the magic. */
        OTHER
    }

    private static final Map<Long, Type> TYPES = Map.of(
            PosixApi.TMPFS_MAGIC(), Type.TMPFS,
            PosixApi.HUGETLBFS_MAGIC(), Type.HUGETLBFS,
            PosixApi.EXT4_SUPER_MAGIC(), Type.EXT4,
            PosixApi.XFS_SUPER_MAGIC(), Type.XFS,
            PosixApi.BTRFS_SUPER_MAGIC(), Type.BTRFS,
            PosixApi.OVERLAYFS_SUPER_MAGIC(), Type.OVERLAY,
            PosixApi.NFS_SUPER_MAGIC(), Type.NFS,
            PosixApi.FUSE_SUPER_MAGIC(), Type.FUSE);

    /**
     * Asks for the file system of a path.
     *
     * @throws PosixException if the path is not there or may not be seen
     */
    public static FileSystemInfo of(Path path) {
        Posix.require();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment answer = statfs.allocate(arena);
            MemorySegment name = Posix.text(arena, path);
            int status;
            do {
                status = PosixNative.statfs(name, answer);
            } while (PosixStatus.interrupted(status));
            PosixStatus.check("statfs", status, path.toString());
            return of(answer);
        }
    }

    private static FileSystemInfo of(MemorySegment answer) {
        long magic = statfs.f_type(answer) & 0xffff_ffffL;
        // Blocks are counted in fragments, where the file system has them.
        long unit = statfs.f_frsize(answer) == 0 ? statfs.f_bsize(answer) : statfs.f_frsize(answer);
        return new FileSystemInfo(
                type(magic),
                magic,
                statfs.f_bsize(answer),
                unit * statfs.f_blocks(answer),
                unit * statfs.f_bfree(answer),
                unit * statfs.f_bavail(answer));
    }

    /** Returns the name of the file system, or its magic where that is not known here. */
    public String typeName() {
        return type == Type.OTHER ? "0x" + Long.toHexString(magic) : type.name().toLowerCase(Locale.ROOT);
    }

    static Type type(long magic) {
        return TYPES.getOrDefault(magic, Type.OTHER);
    }
}
