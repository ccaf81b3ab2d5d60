package io.kvtier.cli;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import org.jspecify.annotations.Nullable;

/** A folder that is removed at the end, also if the command is interrupted. */
final class TemporaryFolder implements AutoCloseable {
    private final Path path;
    private final Thread onInterrupt = new Thread(this::removeOnInterrupt, "kvtier-remove-temporary-folder");

    private volatile Runnable beforeRemoval = () -> {};

    private TemporaryFolder(Path path) {
        this.path = path;
    }

    static TemporaryFolder create(String prefix) throws IOException {
        TemporaryFolder folder = new TemporaryFolder(Files.createTempDirectory(prefix));
        Runtime.getRuntime().addShutdownHook(folder.onInterrupt);
        return folder;
    }

    Path path() {
        return path;
    }

    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(onInterrupt);
        } catch (IllegalStateException e) {
            // The process is ending: the hook removes the folder.
            return;
        }
        remove();
    }

    /** Sets what stops those who write to the folder, if the command is interrupted. */
    void beforeRemoval(Runnable stop) {
        beforeRemoval = stop;
    }

    private void removeOnInterrupt() {
        beforeRemoval.run();
        remove();
    }

    private void remove() {
        try {
            Files.walkFileTree(path, new Remover());
        } catch (NoSuchFileException e) {
            // Someone else removed it.
        } catch (IOException e) {
            throw new UncheckedIOException("temporary folder " + path + " could not be removed", e);
        }
    }

    private static final class Remover extends SimpleFileVisitor<Path> {
        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
            Files.deleteIfExists(file);
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
            // While the command is interrupted, the replay may still be moving files.
            if (e instanceof NoSuchFileException) {
                return FileVisitResult.CONTINUE;
            }
            throw e;
        }

        @Override
        public FileVisitResult postVisitDirectory(Path directory, @Nullable IOException e) throws IOException {
            Files.deleteIfExists(directory);
            return FileVisitResult.CONTINUE;
        }
    }
}
