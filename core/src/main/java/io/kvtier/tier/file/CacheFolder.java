package io.kvtier.tier.file;

import io.kvtier.tier.TierException;
import io.kvtier.tier.TierException.Reason;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A cache folder that this process owns while it is open:
 *
 * <pre>
 *     kvtier-format        "kvtier file tier, format 1"
 *     kvtier-lock          locked by the owner; holds its pid and host
 *     objects/ab/ab....kvt records, by the first two digits of their name
 *     tmp/                 records being written; emptied at the start
 *     quarantine/          what was no record, or not the right one
 * </pre>
 */
final class CacheFolder implements AutoCloseable {
    static final String MARKER = "kvtier-format";
    static final String LOCK = "kvtier-lock";
    static final String OBJECTS = "objects";
    static final String TEMPORARY = "tmp";
    static final String QUARANTINE = "quarantine";

    private static final int FORMAT = 1;
    private static final List<String> SUBFOLDERS = List.of(OBJECTS, TEMPORARY, QUARANTINE);
    private static final String MARKER_PREFIX = "kvtier file tier, format ";

    /*
     * The lock files that this process holds. POSIX gives all of a process's locks on a file up when it closes any
     * channel on it, so a lock file that is held must not be opened again, not even to find that it is held. The class's
     * monitor keeps openings and closings of this process apart.
     */
    private static final Set<Object> HELD = new HashSet<>();

    private final Path root;
    private final FileChannel lockChannel;
    private final Object lockKey;

    private CacheFolder(Path root, FileChannel lockChannel, Object lockKey) {
        this.root = root;
        this.lockChannel = lockChannel;
        this.lockKey = lockKey;
    }

    /** Checks a folder, makes it if it is missing, and locks it; writes nothing but the lock file. */
    static CacheFolder open(Path folder) throws TierException {
        Path root = makeFolder(folder.toAbsolutePath().normalize());
        checkMarker(root);
        requireOwnFolders(root);
        return lock(root);
    }

    /** Marks the folder and makes its sub-folders, as far as they are missing. */
    void prepare() throws TierException {
        try {
            if (!checkMarker(root)) {
                Files.writeString(root.resolve(MARKER), MARKER_PREFIX + FORMAT + "\n");
            }
            for (String name : SUBFOLDERS) {
                Files.createDirectories(root.resolve(name));
            }
        } catch (TierException e) {
            throw e;
        } catch (IOException e) {
            throw failure(root, "could not be prepared", e);
        }
    }

    /**
     * What lies in the sub-folders is deleted or moved at times, so they must be ours: of a folder that is marked, and no
     * links to somewhere else.
     */
    private static void requireOwnFolders(Path root) throws TierException {
        boolean marked = Files.exists(root.resolve(MARKER), LinkOption.NOFOLLOW_LINKS);
        for (String name : SUBFOLDERS) {
            Path path = root.resolve(name);
            if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
                continue;
            }
            if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
                throw foreign(root, "its " + name + " is no folder");
            }
            if (!marked && !isEmpty(path)) {
                throw foreign(root, "it has no " + MARKER + ", but a folder " + name + " with something in it");
            }
        }
    }

    private static boolean isEmpty(Path path) throws TierException {
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(path)) {
            return !entries.iterator().hasNext();
        } catch (IOException e) {
            throw failure(path, "cannot be read", e);
        }
    }

    private static TierException foreign(Path root, String why) {
        return new TierException(
                Reason.NO_FOLDER,
                root + " is no cache folder: " + why + "; name another folder, or an empty or a new one",
                null);
    }

    Path root() {
        return root;
    }

    Path objects() {
        return root.resolve(OBJECTS);
    }

    Path temporary() {
        return root.resolve(TEMPORARY);
    }

    Path quarantine() {
        return root.resolve(QUARANTINE);
    }

    /** Gives the folder up; others may open it from now on. */
    @Override
    public void close() {
        synchronized (CacheFolder.class) {
            if (lockChannel.isOpen()) {
                closeQuietly(lockChannel, new IOException("closing the lock of " + root));
                HELD.remove(lockKey);
            }
        }
    }

    /** Returns the exception for a folder on which the file system failed. */
    static TierException failure(Path folder, String what, IOException e) {
        String text = e instanceof FileSystemException fs && fs.getReason() != null ? fs.getReason() : e.toString();
        boolean full = isOutOfSpace(e);
        String advice = full
                ? "free some space or choose another folder"
                : "check that this user may write there and that it is no read-only file system";
        return new TierException(
                full ? Reason.FULL : Reason.NOT_WRITABLE,
                "cache folder " + folder + " " + what + ": " + text + "; " + advice,
                e);
    }

    /** Returns whether the device or the user's quota is full; the JDK passes on only the system's text. */
    static boolean isOutOfSpace(IOException e) {
        String message = String.valueOf(e.getMessage()).toLowerCase(Locale.ROOT);
        return message.contains("no space left") || message.contains("quota exceeded");
    }

    private static Path makeFolder(Path root) throws TierException {
        if (Files.exists(root) && !Files.isDirectory(root)) {
            throw new TierException(
                    Reason.NO_FOLDER, "cache folder " + root + " is a file; name a folder or a new path", null);
        }
        try {
            return Files.isDirectory(root) ? root : Files.createDirectories(root);
        } catch (IOException e) {
            throw failure(root, "could not be made", e);
        }
    }

    /** Returns whether a folder is marked as one of this format; refuses those of a newer one. */
    static boolean checkMarker(Path root) throws TierException {
        Path marker = root.resolve(MARKER);
        if (!Files.exists(marker)) {
            return false;
        }
        String text;
        try {
            text = Files.readString(marker, StandardCharsets.ISO_8859_1).strip();
        } catch (IOException e) {
            throw failure(root, "has a format marker that cannot be read", e);
        }
        int format = text.startsWith(MARKER_PREFIX) ? parse(text.substring(MARKER_PREFIX.length())) : 0;
        if (format > FORMAT) {
            throw new TierException(
                    Reason.NEWER_FORMAT,
                    "cache folder " + root + " has format " + format + ", this version of kvtier reads up to " + FORMAT
                            + "; use a newer kvtier or another folder",
                    null);
        }
        // A torn or damaged marker says nothing; the records themselves carry their version.
        return format == FORMAT;
    }

    private static int parse(String number) {
        try {
            return Integer.parseInt(number);
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    private static synchronized CacheFolder lock(Path root) throws TierException {
        Path path = root.resolve(LOCK);
        try {
            Object key = lockKey(path);
            if (HELD.contains(key)) {
                throw inUse(root, self());
            }
            FileChannel channel = lockedChannel(root, path);
            HELD.add(key);
            return new CacheFolder(root, channel, key);
        } catch (TierException e) {
            throw e;
        } catch (IOException e) {
            throw failure(root, "cannot be locked", e);
        }
    }

    /** Returns what names the lock file whatever path leads to it; makes the file if it is missing. */
    private static Object lockKey(Path path) throws IOException {
        if (!Files.exists(path)) {
            try {
                Files.createFile(path);
            } catch (FileAlreadyExistsException e) {
                // Another process was first.
            }
        }
        Object key = Files.readAttributes(path, BasicFileAttributes.class).fileKey();
        return key == null ? path.toRealPath() : key;
    }

    private static FileChannel lockedChannel(Path root, Path path) throws IOException {
        FileChannel channel =
                FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
        try {
            if (tryLock(channel) == null) {
                throw inUse(root, holder(channel));
            }
            writeHolder(channel);
            return channel;
        } catch (IOException e) {
            closeQuietly(channel, e);
            throw e;
        }
    }

    private static TierException inUse(Path root, String holder) {
        return new TierException(
                Reason.IN_USE,
                "cache folder " + root + " is in use by " + holder + "; end that process or use another folder",
                null);
    }

    private static @Nullable FileLock tryLock(FileChannel channel) throws IOException {
        try {
            return channel.tryLock();
        } catch (OverlappingFileLockException e) {
            return null;
        }
    }

    private static void writeHolder(FileChannel channel) throws IOException {
        ByteBuffer text = StandardCharsets.UTF_8.encode(self() + "\n");
        channel.truncate(0);
        while (text.hasRemaining()) {
            channel.write(text);
        }
    }

    private static String self() {
        return "pid " + ProcessHandle.current().pid() + " on " + host();
    }

    /** Asking a name service could take long, the kernel knows. */
    private static String host() {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
        } catch (IOException e) {
            return System.getenv().getOrDefault("HOSTNAME", "an unnamed host");
        }
    }

    private static String holder(FileChannel channel) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(256);
        channel.read(buffer, 0);
        String text = StandardCharsets.UTF_8.decode(buffer.flip()).toString().strip();
        return text.isEmpty() ? "a process that is just starting" : text;
    }

    private static void closeQuietly(FileChannel channel, Exception cause) {
        try {
            channel.close();
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
    }
}
