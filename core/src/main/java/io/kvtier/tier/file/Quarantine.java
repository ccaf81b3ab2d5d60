package io.kvtier.tier.file;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Files that were no records, or not the right ones, kept for a look: at most 64, and the first to go when the tier needs
 * space. Safe for all threads.
 */
final class Quarantine {
    private static final int MAX_FILES = 64;
    private static final int MAX_NAME = 72;

    private record Entry(Path path, long bytes) {}

    private final Path folder;
    private final Deque<Entry> entries = new ArrayDeque<>();
    // Read without the monitor, which is held during I/O.
    private volatile int size;
    private volatile long bytes;
    private long total;

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
        String name = file.getFileName().toString();
        // What is appended must not make the name too long.
        String base = name.substring(0, Math.min(name.length(), MAX_NAME)) + "." + System.currentTimeMillis();
        Path target = folder.resolve(base);
        for (int i = 1; Files.exists(target, LinkOption.NOFOLLOW_LINKS); i++) {
            target = folder.resolve(base + "-" + i);
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

    int size() {
        return size;
    }

    /** Returns the bytes of all files, in whole 4096-byte blocks. */
    long bytes() {
        return bytes;
    }

    private void add(Path file) throws IOException {
        long blocks = (Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                                .size()
                        + 4095)
                / 4096;
        entries.addLast(new Entry(file, blocks * 4096));
        count(blocks * 4096);
    }

    private void count(long change) {
        size = entries.size();
        total += change;
        bytes = total;
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
        count(-entry.bytes());
    }

    /** Deletes a file, or a folder with its content. */
    static void delete(Path path) throws IOException {
        if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
            try (DirectoryStream<Path> children = Files.newDirectoryStream(path)) {
                for (Path child : children) {
                    delete(child);
                }
            }
        }
        Files.deleteIfExists(path);
    }
}
