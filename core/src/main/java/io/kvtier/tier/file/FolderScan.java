package io.kvtier.tier.file;

import io.kvtier.object.KeySpace;
import io.kvtier.object.KeySpaceEncoding;
import io.kvtier.tier.TierException;
import io.kvtier.tier.TierException.Reason;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What a cache folder holds, read from the headers of its records at the start. Reading changes nothing; payloads are
 * checked when they are read.
 */
final class FolderScan {
    /** A record that was found whole. */
    record Found(KeySpace space, RecordHeader header) {}

    private static final Set<String> OWN = Set.of(
            CacheFolder.MARKER, CacheFolder.LOCK, CacheFolder.OBJECTS, CacheFolder.TEMPORARY, CacheFolder.QUARANTINE);

    private final Path root;
    private final Path objects;
    private final Map<ByteBuffer, Optional<KeySpace>> keySpaces = new HashMap<>();
    private final List<Found> found = new ArrayList<>();
    private final List<Path> wrong = new ArrayList<>();
    private final List<Path> leftovers = new ArrayList<>();
    private final Map<String, IOException> unreadable = new LinkedHashMap<>();
    private int foreign;
    private long nextSequence;

    private FolderScan(Path root) {
        this.root = root;
        this.objects = root.resolve(CacheFolder.OBJECTS);
    }

    /** Reads a folder, whoever owns it; what is not there holds nothing. */
    static FolderScan of(Path root) throws TierException {
        FolderScan scan = new FolderScan(root);
        try {
            scan.scanRoot();
            scan.scanObjects();
            scan.list(root.resolve(CacheFolder.TEMPORARY), scan.leftovers::add);
        } catch (TierException e) {
            throw e;
        } catch (IOException e) {
            throw CacheFolder.failure(root, "cannot be read", e);
        }
        scan.found.sort(Comparator.comparingLong(record -> record.header().sequence()));
        return scan;
    }

    /** Returns the whole records, the oldest first. */
    List<Found> found() {
        return found;
    }

    /** Returns files where records should be that are none, or not the one that their name says. */
    List<Path> wrong() {
        return wrong;
    }

    /** Returns files that a writer left unfinished. */
    List<Path> leftovers() {
        return leftovers;
    }

    /** Returns what could not be read, and why. */
    Map<String, IOException> unreadable() {
        return unreadable;
    }

    /** Returns the number of files of others. */
    int foreign() {
        return foreign;
    }

    /** Returns the sequence number of the next record. */
    long nextSequence() {
        return nextSequence;
    }

    private interface Visitor {
        void visit(Path path) throws IOException;
    }

    private void list(Path directory, Visitor visitor) throws IOException {
        if (!Files.exists(directory)) {
            return;
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(directory)) {
            for (Path entry : entries) {
                visitor.visit(entry);
            }
        }
    }

    private void scanRoot() throws IOException {
        list(root, path -> {
            String name = path.getFileName().toString();
            if (OWN.contains(name)) {
                return;
            }
            if (name.endsWith(RecordFiles.SUFFIX) && Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
                wrong.add(path);
            } else {
                foreign++;
            }
        });
    }

    private void scanObjects() throws IOException {
        list(objects, path -> {
            if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
                list(path, this::scanFile);
            } else {
                wrong.add(path);
            }
        });
    }

    private void scanFile(Path path) throws IOException {
        if (!Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
            wrong.add(path);
            return;
        }
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
            ByteBuffer buffer = RecordFiles.readHeader(channel);
            if (buffer == null) {
                wrong.add(path);
                return;
            }
            switch (RecordHeader.examine(buffer)) {
                case VALID -> examine(path, RecordHeader.read(buffer), channel.size());
                case NEWER -> throw newer(path);
                case DAMAGED -> wrong.add(path);
            }
        } catch (NoSuchFileException e) {
            // The folder's owner has just deleted it.
            return;
        } catch (TierException e) {
            throw e;
        } catch (IOException e) {
            // One bad sector must not cost all the rest.
            unreadable.put("reading the header of " + path, e);
        }
    }

    private void examine(Path path, RecordHeader header, long fileBytes) {
        byte[] keySpace = header.key().keySpace();
        Optional<KeySpace> space =
                keySpaces.computeIfAbsent(ByteBuffer.wrap(keySpace), _ -> KeySpaceEncoding.decode(keySpace));
        boolean right = space.isPresent()
                && fileBytes == RecordHeader.BYTES + header.payloadBytes()
                && path.equals(header.key().path(objects));
        if (right) {
            found.add(new Found(space.orElseThrow(), header));
            nextSequence = Math.max(nextSequence, header.sequence() + 1);
        } else {
            wrong.add(path);
        }
    }

    private static TierException newer(Path path) {
        return new TierException(
                Reason.NEWER_FORMAT,
                "record " + path + " was written in a newer format or with a codec that this version of kvtier does not"
                        + " know; use a newer kvtier or another folder",
                null);
    }
}
