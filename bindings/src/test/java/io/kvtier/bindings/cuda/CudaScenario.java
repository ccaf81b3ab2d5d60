package io.kvtier.bindings.cuda;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/** A run through all wrappers, any call of which may fail. Whatever does, all is closed in the end. */
final class CudaScenario {
    private static final Device FIRST = new Device(0);
    private static final Device SECOND = new Device(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final int SIZE = 4096;

    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private final List<RuntimeException> failures = new ArrayList<>();

    private CudaScenario() {}

    /** Runs it, and returns what was thrown: by its first call that failed, and by closes after it. */
    static List<RuntimeException> run() {
        CudaScenario scenario = new CudaScenario();
        try (Arena arena = Arena.ofShared()) {
            try {
                questions();
                scenario.peers();
                scenario.work(arena);
            } catch (CudaException e) {
                scenario.failures.add(e);
            } finally {
                scenario.closeAll();
            }
        }
        return scenario.failures;
    }

    private <T extends AutoCloseable> T opened(T resource) {
        open.push(resource);
        return resource;
    }

    private void closeAll() {
        while (!open.isEmpty()) {
            AutoCloseable resource = open.pop();
            // What could not be closed says so, and can be closed later.
            for (int attempt = 0; attempt < 3; attempt++) {
                try {
                    resource.close();
                } catch (RuntimeException e) {
                    failures.add(e);
                } catch (Exception e) {
                    throw new AssertionError(e);
                }
            }
        }
    }

    private static void questions() {
        Cuda.driverVersion();
        Device.count();
        FIRST.select();
        Device.current();
        FIRST.properties();
        FIRST.attribute(DeviceAttribute.MEMORY_POOLS);
        FIRST.memoryInfo();
        FIRST.streamPriorities();
    }

    private void peers() {
        FIRST.canAccess(SECOND);
        FIRST.enableAccess(SECOND);
        opened((AutoCloseable) () -> {
            // Access is a state of the device, of which no call says whether it is there.
            try {
                FIRST.disableAccess(SECOND);
            } catch (CudaException e) {
                if (e.code() != 705) {
                    throw e;
                }
            }
        });
    }

    private void work(Arena arena) {
        Stream stream = opened(Stream.create(FIRST));
        Stream urgent = opened(Stream.create(FIRST, FIRST.streamPriorities().greatest()));
        DeviceMemory device = opened(DeviceMemory.allocate(FIRST, SIZE));
        DeviceMemory peer = opened(DeviceMemory.allocate(SECOND, SIZE));
        PinnedMemory pinned = opened(PinnedMemory.allocate(FIRST, SIZE, PinnedOption.MAPPED));
        PinnedMemory registered = opened(PinnedMemory.register(FIRST, arena.allocate(SIZE, SIZE)));
        MemorySegment unpinned = arena.allocate(SIZE);
        pinned.deviceAddress();
        PointerAttributes.of(device.address());
        device.ipcHandle();
        opened(Event.create(FIRST, EventOption.INTERPROCESS)).ipcHandle();
        copies(stream, device, peer, pinned, registered, unpinned);
        ordered(stream, urgent);
        events(stream, urgent);
        FIRST.synchronize();
    }

    private static void copies(
            Stream stream,
            DeviceMemory device,
            DeviceMemory peer,
            PinnedMemory pinned,
            PinnedMemory registered,
            MemorySegment unpinned) {
        Copies.fill(stream, device, 0, SIZE, (byte) 1);
        Copies.copy(stream, pinned, 0, device, 0, SIZE);
        Copies.copy(stream, device, 0, unpinned, 0, SIZE);
        Copies.copy(stream, unpinned, 0, device, 0, SIZE);
        Copies.copy(stream, peer, 0, device, 0, SIZE);
        Copies.copy2D(stream, new Pitched(device, 0, 64), new Pitched(registered, 0, 128), 64, 32);
        Copies.copy3D(stream, new Pitched(device, 0, 64, 8), new Pitched(registered, 0, 128, 8), 64, 8, 2);
        CopyBatch batch = new CopyBatch(2);
        batch.add(device, 0, pinned, 0, 10);
        batch.add(registered, 0, pinned, 10, 10);
        batch.submit(stream);
        stream.synchronize();
    }

    private void ordered(Stream stream, Stream urgent) {
        MemoryPool shared = opened(MemoryPool.ofDefault(FIRST));
        shared.usedBytes();
        MemoryPool pool = opened(MemoryPool.create(FIRST));
        pool.setReleaseThreshold(SIZE);
        pool.enableAccess(SECOND);
        pool.trimTo(0);
        DeviceMemory ofDefault = opened(DeviceMemory.allocateAsync(stream, SIZE));
        DeviceMemory ofPool = opened(DeviceMemory.allocateFrom(pool, stream, SIZE));
        Event allocated = opened(Event.create(FIRST));
        allocated.record(stream);
        urgent.waitFor(allocated);
        Copies.copy(urgent, ofDefault, 0, ofPool, 0, SIZE);
        stream.isDone();
    }

    private void events(Stream stream, Stream urgent) {
        Event start = opened(Event.create(FIRST, EventOption.TIMING));
        Event end = opened(Event.create(FIRST, EventOption.TIMING, EventOption.BLOCKING_SYNC));
        start.record(stream);
        end.record(stream);
        end.synchronize();
        end.isDone();
        end.elapsedMillis(start);
        urgent.await(MINUTE);
    }
}
