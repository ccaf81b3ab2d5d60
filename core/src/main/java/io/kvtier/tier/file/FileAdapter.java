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
import java.util.concurrent.locks.ReentrantLock;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.jspecify.annotations.Nullable;

/** A tier of records in a folder, one per file. */
public final class FileAdapter implements TierAdapter {
    /*
     * `lock` guards the table and the counters, and is never held during I/O. What keeps two threads off one file is the
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
    private final ReentrantLock lock = new ReentrantLock();
    private final RecordTable table;

    private boolean closed;
    private long sequence;
    private long recovered;
    private long evictions;
    private long storedBytes;
    private long readBytes;
    private long refused;
    private long missing;
    private long corrupt;
    private long foreign;
    private long failures;
    private @Nullable String fault;

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
            FileAdapter adapter = new FileAdapter(config, folder, spaces);
            adapter.recover();
            adapter.selfTest();
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
        FolderScan.of(folder.toAbsolutePath().normalize()).found().forEach(record -> result.add(record.space()));
        return result;
    }

    @Override
    public String name() {
        return "file:" + folder.root();
    }

    @Override
    public StoreOutcome store(ObjectKeys keys, int i, MemorySegment payload, int checksum) {
        List<Integer> victims = new ArrayList<>(1);
        int slot;
        lock.lock();
        try {
            StoreOutcome early = withoutWriting(keys, i);
            if (early != null) {
                return early;
            }
            slot = table.reserve(keys, i, payload.byteSize(), victims);
            if (slot == ObjectIndex.NONE) {
                refused++;
                return StoreOutcome.NO_SPACE;
            }
            evictions += victims.size();
        } finally {
            lock.unlock();
        }
        boolean written = deleteAll(victims) && write(slot, payload, checksum);
        finishStore(slot, payload.byteSize(), checksum, written);
        return written ? StoreOutcome.STORED : StoreOutcome.FAILED;
    }

    @Override
    public boolean contains(ObjectKeys keys, int i) {
        lock.lock();
        try {
            return !closed && table.findResident(keys, i) != ObjectIndex.NONE;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public boolean touch(ObjectKeys keys, int i) {
        lock.lock();
        try {
            return !closed && table.touch(keys, i);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public long lease(ObjectKeys keys, int i) {
        lock.lock();
        try {
            return closed ? NO_LEASE : table.lease(keys, i);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public long length(long lease) {
        lock.lock();
        try {
            return table.length(lease);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public int checksum(long lease) {
        lock.lock();
        try {
            return table.checksum(lease);
        } finally {
            lock.unlock();
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
            return switch (files.read(path, expected, destination)) {
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
        lock.lock();
        try {
            mustGo = table.release(lease);
        } finally {
            lock.unlock();
        }
        if (mustGo) {
            deleteFile(ObjectIndex.slot(lease));
        }
    }

    @Override
    public boolean delete(ObjectKeys keys, int i) {
        int slot;
        boolean later;
        lock.lock();
        try {
            slot = closed ? ObjectIndex.NONE : table.findResident(keys, i);
            if (slot == ObjectIndex.NONE) {
                return false;
            }
            table.hide(slot);
            later = table.isLeased(slot);
        } finally {
            lock.unlock();
        }
        return later || deleteFile(slot);
    }

    @Override
    public Set<KeySpace> keySpaces() {
        Set<Integer> ids = new HashSet<>();
        lock.lock();
        try {
            table.forEachResident(slot -> ids.add(table.spaceId(slot)));
        } finally {
            lock.unlock();
        }
        Set<KeySpace> result = new HashSet<>();
        ids.forEach(id -> result.add(spaces.space(id)));
        return result;
    }

    @Override
    public TierStatus status() {
        lock.lock();
        try {
            return new TierStatus(
                    name(),
                    table.residents(),
                    table.bytes() + quarantine.bytes(),
                    config.maxObjects(),
                    config.maxBytes(),
                    table.leases(),
                    recovered,
                    evictions,
                    storedBytes,
                    readBytes,
                    refused,
                    missing,
                    corrupt,
                    quarantine.size(),
                    foreign,
                    failures,
                    fault);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
        } finally {
            lock.unlock();
        }
        folder.close();
    }

    private void recover() throws TierException, IOException {
        FolderScan scan = FolderScan.of(folder.root());
        sequence = scan.nextSequence();
        foreign = scan.foreign();
        for (FolderScan.Found record : scan.found()) {
            ObjectKeys keys = spaces.keys(record.space());
            System.arraycopy(record.header().key().chunkHash(), 0, keys.resize(1), 0, RecordHeader.HASH_BYTES);
            table.recover(
                    keys, 0, record.header().payloadBytes(), record.header().checksum());
        }
        recovered = table.residents();
        scan.wrong().forEach(path -> quarantine(path, "is no record that belongs there"));
        for (Path leftover : scan.leftovers()) {
            Files.deleteIfExists(leftover);
        }
        evictExcess();
    }

    private void evictExcess() throws TierException {
        while (table.overCapacity()) {
            int victim = table.hideVictim();
            evictions++;
            if (!deleteFile(victim)) {
                throw new TierException(
                        Reason.NOT_WRITABLE,
                        "cache folder " + folder.root() + " holds " + table.size() + " objects of " + table.bytes()
                                + " bytes, more than its capacity of " + config.maxObjects() + " objects and "
                                + config.maxBytes() + " bytes, and they cannot be deleted: " + fault,
                        null);
            }
        }
    }

    private void selfTest() throws TierException, IOException {
        if (!files.selfTest()) {
            throw new TierException(
                    Reason.SELF_TEST,
                    "cache folder " + folder.root() + " does not give back what was written; check the device",
                    null);
        }
    }

    /** Returns the outcome of a store that has nothing to write, or null; the lock is held. */
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
        lock.lock();
        try {
            if (deleted) {
                table.forget(slot);
            } else {
                table.restore(slot);
            }
        } finally {
            lock.unlock();
        }
        return deleted;
    }

    private boolean write(int slot, MemorySegment payload, int checksum) {
        RecordHeader header = header(slot, payload.byteSize(), checksum, nextSequence());
        Path path = files.path(header.key());
        try {
            if (isCrowded()) {
                quarantine.clear();
            }
            files.write(path, header, payload);
            return true;
        } catch (IOException e) {
            fail("writing " + path, e);
            return false;
        }
    }

    private boolean isCrowded() {
        lock.lock();
        try {
            return table.bytes() + quarantine.bytes() > config.maxBytes();
        } finally {
            lock.unlock();
        }
    }

    private void finishStore(int slot, long payloadBytes, int checksum, boolean written) {
        lock.lock();
        try {
            if (written) {
                table.publish(slot, payloadBytes, checksum);
                storedBytes += payloadBytes;
                fault = null;
            } else {
                table.abandon(slot, payloadBytes);
            }
        } finally {
            lock.unlock();
        }
    }

    private LoadOutcome loaded(long length) {
        lock.lock();
        try {
            readBytes += length;
            fault = null;
        } finally {
            lock.unlock();
        }
        return LoadOutcome.LOADED;
    }

    private LoadOutcome missing(int slot, Path path) {
        LOG.warn("{}: record {} is gone and counts as a miss", name(), path.getFileName());
        lock.lock();
        try {
            missing++;
            table.hideIfResident(slot);
        } finally {
            lock.unlock();
        }
        return LoadOutcome.MISSING;
    }

    private LoadOutcome corrupt(int slot, Path path) {
        lock.lock();
        try {
            table.hideIfResident(slot);
        } finally {
            lock.unlock();
        }
        quarantine(path, "failed its check when it was read");
        return LoadOutcome.CORRUPT;
    }

    private void quarantine(Path path, String why) {
        LOG.warn("{}: {} {} and goes to {}", name(), path, why, CacheFolder.QUARANTINE);
        try {
            quarantine.take(path);
        } catch (NoSuchFileException e) {
            LOG.debug("{}: another reader took {} away", name(), path);
            return;
        } catch (IOException e) {
            fail("moving " + path + " to " + CacheFolder.QUARANTINE, e);
        }
        lock.lock();
        try {
            corrupt++;
        } finally {
            lock.unlock();
        }
    }

    private void fail(String what, IOException e) {
        LOG.warn("{}: {} failed", name(), what, e);
        lock.lock();
        try {
            failures++;
            fault = what + ": " + e;
        } finally {
            lock.unlock();
        }
    }

    private RecordHeader header(int slot, long payloadBytes, int checksum, long number) {
        return new RecordHeader(payloadBytes, checksum, number, System.currentTimeMillis(), key(slot));
    }

    private RecordKey key(int slot) {
        byte[] hash = new byte[RecordHeader.HASH_BYTES];
        int spaceId;
        lock.lock();
        try {
            table.copyHash(slot, hash);
            spaceId = table.spaceId(slot);
        } finally {
            lock.unlock();
        }
        byte[] space = encodedSpaces.computeIfAbsent(spaceId, id -> KeySpaceEncoding.encode(spaces.space(id)));
        return new RecordKey(space, hash);
    }

    private long nextSequence() {
        lock.lock();
        try {
            return sequence++;
        } finally {
            lock.unlock();
        }
    }
}
