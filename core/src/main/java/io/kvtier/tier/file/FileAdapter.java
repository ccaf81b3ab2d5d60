package io.kvtier.tier.file;

import io.kvtier.object.KeySpace;
import io.kvtier.object.KeySpaceEncoding;
import io.kvtier.object.KeySpaces;
import io.kvtier.object.ObjectIndex;
import io.kvtier.object.ObjectKeys;
import io.kvtier.object.ObjectState;
import io.kvtier.tier.FileTierConfig;
import io.kvtier.tier.LoadOutcome;
import io.kvtier.tier.StoreOutcome;
import io.kvtier.tier.TierAdapter;
import io.kvtier.tier.TierException;
import io.kvtier.tier.TierException.Reason;
import io.kvtier.tier.TierStatus;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.jspecify.annotations.Nullable;

/** A tier of records in a folder, one per file. */
public final class FileAdapter implements TierAdapter {
    /*
     * The table's monitor guards the table and the counters, and is never held during I/O. What keeps two threads off one file is the
     * state of its slot: a writer links a staged slot before it writes, a deleter marks its slot evicting before it
     * deletes, and both stay linked until the file is as the state says; meanwhile readers find nothing and other
     * writers of the key are told BUSY.
     */
    private static final Logger LOG = LogManager.getLogger(FileAdapter.class);

    private final FileTierConfig config;
    private final CacheFolder folder;
    private final RecordFiles files;
    private final Quarantine quarantine;
    private final KeySpaces spaces;
    private final ConcurrentHashMap<Integer, byte[]> encodedSpaces = new ConcurrentHashMap<>();
    private final RecordTable table;

    private final TierCounters counters = new TierCounters();

    private boolean closed;
    private long sequence;

    private FileAdapter(FileTierConfig config, CacheFolder folder, KeySpaces spaces) throws IOException {
        this.config = config;
        this.folder = folder;
        this.spaces = spaces;
        this.files = new RecordFiles(folder);
        this.quarantine = new Quarantine(folder.quarantine());
        this.table = new RecordTable(config.policy().create(), config.maxBytes(), config.maxObjects());
    }

    /**
     * Opens the tier.
     *
     * @throws TierException if the folder cannot be used; no object was written or removed then
     */
    public static FileAdapter open(FileTierConfig config, KeySpaces spaces) throws TierException {
        CacheFolder folder = CacheFolder.open(config.folder());
        try {
            FolderScan scan = FolderScan.of(folder.root());
            folder.prepare();
            FileAdapter adapter = new FileAdapter(config, folder, spaces);
            adapter.selfTest();
            adapter.recover(scan);
            return adapter;
        } catch (TierException | RuntimeException | Error e) {
            folder.close();
            throw e;
        } catch (IOException e) {
            folder.close();
            throw CacheFolder.failure(folder.root(), "cannot be used", e);
        }
    }

    /**
     * Returns the key spaces of the records in a folder, whoever owns it; changes nothing.
     *
     * @throws TierException if the folder cannot be read or is of a newer format
     */
    public static Set<KeySpace> keySpaces(Path folder) throws TierException {
        Set<KeySpace> result = new HashSet<>();
        Path root = folder.toAbsolutePath().normalize();
        CacheFolder.checkMarker(root);
        FolderScan.of(root).found().forEach(record -> result.add(record.space()));
        return result;
    }

    @Override
    public String name() {
        return "file:" + folder.root();
    }

    @Override
    public StoreOutcome store(ObjectKeys keys, int i, MemorySegment payload, int checksum) {
        if (payload.byteSize() == 0) {
            throw new IllegalArgumentException("an object has at least 1 byte, got none");
        }
        if (!canWrite()) {
            return StoreOutcome.FAILED;
        }
        List<Integer> victims = new ArrayList<>(1);
        int slot;
        synchronized (table) {
            StoreOutcome early = withoutWriting(keys, i);
            if (early != null) {
                return early;
            }
            slot = table.reserve(keys, i, payload.byteSize(), victims);
            if (slot == ObjectIndex.NONE) {
                counters.refused++;
                return StoreOutcome.NO_SPACE;
            }
            counters.evictions += victims.size();
        }
        boolean written = false;
        try {
            written = deleteAll(victims) && write(slot, payload, checksum);
        } finally {
            finishStore(slot, payload.byteSize(), checksum, written);
        }
        return written ? StoreOutcome.STORED : StoreOutcome.FAILED;
    }

    @Override
    public boolean contains(ObjectKeys keys, int i) {
        synchronized (table) {
            return !closed && table.findResident(keys, i) != ObjectIndex.NONE;
        }
    }

    @Override
    public boolean touch(ObjectKeys keys, int i) {
        synchronized (table) {
            return !closed && table.touch(keys, i);
        }
    }

    @Override
    public long lease(ObjectKeys keys, int i) {
        synchronized (table) {
            return closed ? NO_LEASE : table.lease(keys, i);
        }
    }

    @Override
    public long length(long lease) {
        synchronized (table) {
            return table.length(lease);
        }
    }

    @Override
    public int checksum(long lease) {
        synchronized (table) {
            return table.checksum(lease);
        }
    }

    @Override
    public LoadOutcome load(long lease, MemorySegment destination) {
        int slot = ObjectIndex.slot(lease);
        long length = length(lease);
        if (destination.byteSize() != length) {
            throw new IllegalArgumentException(
                    "the object has " + length + " bytes, the destination " + destination.byteSize());
        }
        RecordHeader expected = header(slot, length, checksum(lease), 0);
        Path path = files.path(expected.key());
        try {
            return switch (Uninterruptibly.call(() -> files.read(path, expected, destination))) {
                case READ -> loaded(length);
                case MISSING -> missing(slot, path);
                case WRONG -> corrupt(slot, path);
            };
        } catch (IOException e) {
            fail("reading " + path, e);
            return LoadOutcome.FAILED;
        }
    }

    @Override
    public void release(long lease) {
        boolean mustGo;
        synchronized (table) {
            mustGo = table.release(lease);
            if (mustGo && closed) {
                // Its file went when the tier was closed; one of this name may be the next owner's.
                table.forget(ObjectIndex.slot(lease));
                return;
            }
        }
        if (mustGo) {
            deleteFile(ObjectIndex.slot(lease));
        }
    }

    @Override
    public boolean delete(ObjectKeys keys, int i) {
        int slot;
        boolean later;
        synchronized (table) {
            slot = closed ? ObjectIndex.NONE : table.findResident(keys, i);
            if (slot == ObjectIndex.NONE) {
                return false;
            }
            table.hide(slot);
            later = table.isLeased(slot);
        }
        return later || deleteFile(slot);
    }

    @Override
    public Set<KeySpace> keySpaces() {
        Set<Integer> ids = new HashSet<>();
        synchronized (table) {
            table.forEachResident(slot -> ids.add(table.spaceId(slot)));
        }
        Set<KeySpace> result = new HashSet<>();
        ids.forEach(id -> result.add(spaces.space(id)));
        return result;
    }

    @Override
    public TierStatus status() {
        synchronized (table) {
            return counters.status(name(), config, table, quarantine);
        }
    }

    @Override
    public void close() {
        List<Integer> hidden = new ArrayList<>();
        synchronized (table) {
            if (!closed) {
                table.forEachHidden(hidden::add);
            }
            closed = true;
        }
        for (int slot : hidden) {
            Path path = files.path(key(slot));
            try {
                Files.deleteIfExists(path);
            } catch (IOException e) {
                fail("deleting " + path, e);
            }
        }
        folder.close();
    }

    private void recover(FolderScan scan) throws TierException, IOException {
        sequence = scan.nextSequence();
        counters.foreign = scan.foreign();
        scan.unreadable().forEach(this::fail);
        for (FolderScan.Found record : scan.found()) {
            ObjectKeys keys = spaces.keys(record.space());
            System.arraycopy(record.header().key().chunkHash(), 0, keys.resize(1), 0, RecordHeader.HASH_BYTES);
            table.recover(
                    keys, 0, record.header().payloadBytes(), record.header().checksum());
        }
        counters.recovered = table.residents();
        for (Path path : scan.wrong()) {
            quarantine(path, "is no record that belongs there");
        }
        for (Path leftover : scan.leftovers()) {
            Quarantine.delete(leftover);
        }
        evictExcess();
        relieve();
    }

    private void evictExcess() throws TierException {
        while (table.overCapacity()) {
            int victim = table.hideVictim();
            counters.evictions++;
            if (!deleteFile(victim)) {
                throw new TierException(
                        Reason.NOT_WRITABLE,
                        "cache folder " + folder.root() + " holds " + table.size() + " objects of " + table.bytes()
                                + " bytes, more than its capacity of " + config.maxObjects() + " objects and "
                                + config.maxBytes() + " bytes, and they cannot be deleted: " + counters.fault,
                        null);
            }
        }
    }

    private void selfTest() throws TierException, IOException {
        if (!Uninterruptibly.call(files::selfTest)) {
            throw new TierException(
                    Reason.SELF_TEST,
                    "cache folder " + folder.root() + " does not give back what was written; check the device",
                    null);
        }
    }

    /** Returns the outcome of a store that has nothing to write, or null; the monitor is held. */
    private @Nullable StoreOutcome withoutWriting(ObjectKeys keys, int i) {
        if (closed) {
            return StoreOutcome.FAILED;
        }
        ObjectState state = table.state(keys, i);
        if (state == ObjectState.ABSENT) {
            return null;
        }
        return table.touch(keys, i) ? StoreOutcome.PRESENT : StoreOutcome.BUSY;
    }

    private boolean deleteAll(List<Integer> victims) {
        boolean deleted = true;
        for (int victim : victims) {
            deleted &= deleteFile(victim);
        }
        return deleted;
    }

    /** Deletes the file of a hidden record and forgets it; if that fails, the record is there again. */
    private boolean deleteFile(int slot) {
        Path path = files.path(key(slot));
        boolean deleted = true;
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            fail("deleting " + path, e);
            deleted = false;
        }
        synchronized (table) {
            if (deleted) {
                table.forget(slot);
            } else {
                table.restore(slot);
            }
        }
        return deleted;
    }

    private boolean write(int slot, MemorySegment payload, int checksum) {
        RecordHeader header = header(slot, payload.byteSize(), checksum, nextSequence());
        Path path = files.path(header.key());
        try {
            relieve();
            Uninterruptibly.run(() -> files.write(path, header, payload));
            return true;
        } catch (IOException e) {
            fail("writing " + path, e);
            return false;
        }
    }

    /** Quarantine is the first to go. */
    private void relieve() throws IOException {
        if (isCrowded()) {
            quarantine.clear();
        }
    }

    private boolean isCrowded() {
        synchronized (table) {
            return table.occupied() + quarantine.bytes() > config.maxBytes();
        }
    }

    private void finishStore(int slot, long payloadBytes, int checksum, boolean written) {
        synchronized (table) {
            if (written) {
                table.publish(slot, payloadBytes, checksum);
                counters.storedBytes += payloadBytes;
                counters.fault = null;
            } else {
                table.abandon(slot, payloadBytes);
            }
        }
    }

    private LoadOutcome loaded(long length) {
        synchronized (table) {
            counters.readBytes += length;
            counters.fault = null;
        }
        return LoadOutcome.LOADED;
    }

    private LoadOutcome missing(int slot, Path path) {
        LOG.warn("{}: record {} is gone and counts as a miss", name(), path.getFileName());
        synchronized (table) {
            counters.missing++;
            table.hideIfResident(slot);
        }
        return LoadOutcome.MISSING;
    }

    private LoadOutcome corrupt(int slot, Path path) {
        synchronized (table) {
            table.hideIfResident(slot);
        }
        if (quarantine(path, "failed its check when it was read")) {
            synchronized (table) {
                table.uncount(slot);
            }
        }
        relieveOrFail();
        return LoadOutcome.CORRUPT;
    }

    /** Moves a file away; returns false if it was gone or would not move. */
    private boolean quarantine(Path path, String why) {
        LOG.warn("{}: {} {} and goes to {}", name(), path, why, CacheFolder.QUARANTINE);
        boolean moved = false;
        try {
            quarantine.take(path);
            moved = true;
        } catch (NoSuchFileException e) {
            if (Files.isDirectory(folder.quarantine())) {
                LOG.debug("{}: another reader took {} away", name(), path);
                return false;
            }
            fail("moving " + path + " to " + CacheFolder.QUARANTINE, e);
        } catch (IOException e) {
            fail("moving " + path + " to " + CacheFolder.QUARANTINE, e);
        }
        synchronized (table) {
            counters.corrupt++;
        }
        return moved;
    }

    private void relieveOrFail() {
        try {
            relieve();
        } catch (IOException e) {
            fail("emptying " + CacheFolder.QUARANTINE, e);
        }
    }

    /** While the tier is degraded, a small record is tried first: a store that must fail shall cost no other object. */
    private boolean canWrite() {
        synchronized (table) {
            if (counters.fault == null) {
                return true;
            }
        }
        try {
            return Uninterruptibly.call(files::selfTest);
        } catch (IOException e) {
            fail("testing " + folder.root(), e);
            return false;
        }
    }

    private void fail(String what, IOException e) {
        boolean first;
        synchronized (table) {
            first = counters.fault == null;
            counters.failures++;
            counters.fault = what + ": " + e;
        }
        if (first) {
            LOG.warn("{} is degraded: {} failed: {}", name(), what, e.toString());
        } else {
            LOG.debug("{}: {} failed", name(), what, e);
        }
    }

    private RecordHeader header(int slot, long payloadBytes, int checksum, long number) {
        return new RecordHeader(payloadBytes, checksum, number, System.currentTimeMillis(), key(slot));
    }

    private RecordKey key(int slot) {
        byte[] hash = new byte[RecordHeader.HASH_BYTES];
        int spaceId;
        synchronized (table) {
            table.copyHash(slot, hash);
            spaceId = table.spaceId(slot);
        }
        byte[] space = encodedSpaces.computeIfAbsent(spaceId, id -> KeySpaceEncoding.encode(spaces.space(id)));
        return new RecordKey(space, hash);
    }

    private long nextSequence() {
        synchronized (table) {
            return sequence++;
        }
    }
}
