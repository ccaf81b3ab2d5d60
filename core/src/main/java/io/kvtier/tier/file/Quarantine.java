package io.kvtier.tier.file;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Files that were no records, or not the right ones, kept for a look: at most 64, and the first to go when the tier needs
 * space. Safe for all threads.
 */
final class Quarantine {
    private static final int MAX_FILES = 64;

    private record Entry(Path path, long bytes) {}

    private final Path folder;
    private final Deque<Entry> entries = new ArrayDeque<>();
    private long bytes;

    Quarantine(Path folder) throws IOException {
        this.folder = folder;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                add(file);
            }
        }
        trim();
    }

    /** Moves a file here under a name that nothing has yet. */
    synchronized void take(Path file) throws IOException {
        Path target = folder.resolve(file.getFileName() + "." + System.currentTimeMillis());
        for (int i = 1; Files.exists(target); i++) {
            target = target.resolveSibling(file.getFileName() + "." + System.currentTimeMillis() + "-" + i);
        }
        Files.move(file, target, StandardCopyOption.ATOMIC_MOVE);
        add(target);
        trim();
    }

    /** Deletes all files. */
    synchronized void clear() throws IOException {
        while (!entries.isEmpty()) {
            dropFirst();
        }
    }

    synchronized int size() {
        return entries.size();
    }

    /** Returns the bytes of all files, in whole 4096-byte blocks. */
    synchronized long bytes() {
        return bytes;
    }

    private void add(Path file) throws IOException {
        long blocks = (Files.size(file) + 4095) / 4096;
        entries.addLast(new Entry(file, blocks * 4096));
        bytes += blocks * 4096;
    }

    private void trim() throws IOException {
        while (entries.size() > MAX_FILES) {
            dropFirst();
        }
    }

    private void dropFirst() throws IOException {
        Entry entry = entries.getFirst();
        delete(entry.path());
        entries.removeFirst();
        bytes -= entry.bytes();
    }

    /** What was taken in may be a folder with content. */
    private static void delete(Path path) throws IOException {
        if (Files.isDirectory(path, java.nio.file.LinkOption.NOFOLLOW_LINKS)) {
            try (DirectoryStream<Path> children = Files.newDirectoryStream(path)) {
                for (Path child : children) {
                    delete(child);
                }
            }
        }
        Files.deleteIfExists(path);
    }
}
