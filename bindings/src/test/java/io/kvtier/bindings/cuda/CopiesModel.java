package io.kvtier.bindings.cuda;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;

/** Random copies between memories of all kinds, on streams of two devices, beside the same on arrays of bytes. */
final class CopiesModel implements AutoCloseable {
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final int SIZE = 6_000;

    private final Random random;
    private final Consumer<Boolean> holdStreams;
    private final Arena arena = shared();
    private final List<Stream> streams = new ArrayList<>();
    private final List<Event> events = new ArrayList<>();
    private final List<Place> places = new ArrayList<>();
    private final MemorySegment unpinned = arena.allocate(SIZE);
    private final byte[] unpinnedModel = new byte[SIZE];
    private final CopyBatch batch = new CopyBatch(1);
    private int lastStream;

    /** A memory, and what should be in it. */
    private static final class Place {
        final CudaMemory memory;
        final byte[] bytes = new byte[SIZE];

        Place(CudaMemory memory) {
            this.memory = memory;
        }

        byte get(int index) {
            return bytes[index];
        }

        void set(int index, byte value) {
            bytes[index] = value;
        }
    }

    /** Creates the memories; {@code holdStreams} may let the streams stop and go on. */
    CopiesModel(long seed, Consumer<Boolean> holdStreams) {
        this.random = new Random(seed);
        this.holdStreams = holdStreams;
        Device first = new Device(0);
        Device second = new Device(1);
        streams.add(Stream.create(first));
        streams.add(Stream.create(second));
        streams.add(Stream.create(first));
        streams.forEach(stream -> events.add(Event.create(stream.device())));
        add(DeviceMemory.allocate(first, SIZE));
        add(DeviceMemory.allocate(second, SIZE));
        add(PinnedMemory.allocate(first, SIZE, PinnedOption.PORTABLE));
        add(PinnedMemory.register(first, arena.allocate(8192, 4096).asSlice(17, SIZE), PinnedOption.PORTABLE));
        streams.getFirst().synchronize();
        random.nextBytes(unpinnedModel);
        unpinned.copyFrom(MemorySegment.ofArray(unpinnedModel));
        for (Place place : places) {
            fillWithRandomBytes(place);
        }
    }

    private void add(CudaMemory memory) {
        places.add(new Place(memory));
    }

    private void fillWithRandomBytes(Place place) {
        random.nextBytes(place.bytes);
        MemorySegment source = arena.allocateFrom(JAVA_BYTE, place.bytes);
        if (place.memory instanceof DeviceMemory device) {
            Copies.copy(streams.getFirst(), device, 0, source, 0, SIZE);
            streams.getFirst().synchronize();
        } else {
            ((PinnedMemory) place.memory).segment().copyFrom(source);
        }
    }

    void run(int steps) {
        for (int step = 0; step < steps; step++) {
            holdStreams.accept(random.nextInt(4) == 0);
            step();
            if (step % 50 == 49 || step == steps - 1) {
                compare(step);
            }
        }
    }

    /** Each step comes behind the one before it, on whatever stream. */
    private Stream nextStream() {
        int next = random.nextInt(streams.size());
        if (next != lastStream) {
            events.get(lastStream).record(streams.get(lastStream));
            streams.get(next).waitFor(events.get(lastStream));
            lastStream = next;
        }
        return streams.get(next);
    }

    private void step() {
        Stream stream = nextStream();
        switch (random.nextInt(7)) {
            case 0 -> line(stream);
            case 1 -> box(stream, 1);
            case 2 -> box(stream, 1 + random.nextInt(4));
            case 3 -> batch(stream);
            case 4 -> fill(stream);
            case 5 -> fromUnpinned(stream);
            default -> toUnpinned(stream);
        }
    }

    private Place anyPlace() {
        return places.get(random.nextInt(places.size()));
    }

    private Place anyDevice() {
        return places.get(random.nextInt(2));
    }

    private void line(Stream stream) {
        Place to = anyPlace();
        Place from = anyPlace();
        int size = random.nextInt(SIZE / 2);
        int toOffset = random.nextInt(SIZE - size + 1);
        int fromOffset = random.nextInt(SIZE - size + 1);
        if (to == from && Math.abs(toOffset - fromOffset) < size) {
            return;
        }
        Copies.copy(stream, to.memory, toOffset, from.memory, fromOffset, size);
        for (int i = 0; i < size; i++) {
            to.set(toOffset + i, from.get(fromOffset + i));
        }
    }

    private void box(Stream stream, int depth) {
        int width = random.nextInt(40);
        int height = random.nextInt(12);
        Place to = anyPlace();
        Place from = anyPlace();
        Pitched target = pitched(to, width, height, depth);
        Pitched source = pitched(from, width, height, depth);
        if (to == from && Ranges.boxesOverlap(target, source, width, height, depth)) {
            return;
        }
        if (depth == 1 && random.nextBoolean()) {
            Copies.copy2D(stream, target, source, width, height);
        } else {
            Copies.copy3D(stream, target, source, width, height, depth);
        }
        for (int slice = 0; slice < depth; slice++) {
            for (int row = 0; row < height; row++) {
                int toRow = start(target, slice, row);
                int fromRow = start(source, slice, row);
                for (int i = 0; i < width; i++) {
                    to.set(toRow + i, from.get(fromRow + i));
                }
            }
        }
    }

    private Pitched pitched(Place place, int width, int height, int depth) {
        int pitch = width + random.nextInt(20);
        int rows = height + random.nextInt(4);
        int span = Math.max(0, ((depth - 1) * rows + height - 1) * pitch + width);
        return new Pitched(place.memory, random.nextInt(SIZE - span + 1), pitch, rows);
    }

    private static int start(Pitched place, int slice, int row) {
        return (int) (place.offset() + (slice * place.rows() + row) * place.pitch());
    }

    /** Copies of one batch run in any order, so all come from one memory and go to others, each to a range of its own. */
    private void batch(Stream stream) {
        int from = random.nextInt(places.size());
        int count = random.nextInt(10);
        int piece = SIZE / 10;
        batch.clear();
        for (int i = 0; i < count; i++) {
            int to = (from + 1 + random.nextInt(places.size() - 1)) % places.size();
            int size = random.nextInt(piece);
            int toOffset = i * piece + random.nextInt(piece - size);
            int fromOffset = random.nextInt(SIZE - size);
            batch.add(places.get(to).memory, toOffset, places.get(from).memory, fromOffset, size);
            for (int j = 0; j < size; j++) {
                places.get(to).set(toOffset + j, places.get(from).get(fromOffset + j));
            }
        }
        batch.submit(stream);
    }

    private void fill(Stream stream) {
        Place to = anyDevice();
        int size = random.nextInt(SIZE / 4);
        int offset = random.nextInt(SIZE - size);
        byte value = (byte) random.nextInt();
        Copies.fill(stream, (DeviceMemory) to.memory, offset, size, value);
        for (int i = 0; i < size; i++) {
            to.set(offset + i, value);
        }
    }

    private void fromUnpinned(Stream stream) {
        Place to = anyDevice();
        int size = random.nextInt(SIZE / 4);
        int toOffset = random.nextInt(SIZE - size);
        int fromOffset = random.nextInt(SIZE - size);
        Copies.copy(stream, (DeviceMemory) to.memory, toOffset, unpinned, fromOffset, size);
        for (int i = 0; i < size; i++) {
            to.set(toOffset + i, unpinnedModel[fromOffset + i]);
        }
    }

    /** The call lasts until the stream got there. */
    private void toUnpinned(Stream stream) {
        holdStreams.accept(false);
        Place from = anyDevice();
        int size = random.nextInt(SIZE / 4);
        int toOffset = random.nextInt(SIZE - size);
        int fromOffset = random.nextInt(SIZE - size);
        Copies.copy(stream, unpinned, toOffset, (DeviceMemory) from.memory, fromOffset, size);
        for (int i = 0; i < size; i++) {
            unpinnedModel[toOffset + i] = from.get(fromOffset + i);
        }
    }

    private void compare(int step) {
        holdStreams.accept(false);
        for (Stream stream : streams) {
            require(stream.await(MINUTE), "a stream did not end", step);
        }
        require(Arrays.equals(unpinned.toArray(JAVA_BYTE), unpinnedModel), "unpinned memory differs", step);
        for (Place place : places) {
            int difference = Arrays.mismatch(read(place.memory), place.bytes);
            require(difference < 0, "byte " + difference + " of " + place.memory + " differs", step);
        }
    }

    private byte[] read(CudaMemory memory) {
        if (memory instanceof PinnedMemory pinned) {
            return pinned.segment().toArray(JAVA_BYTE);
        }
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment bytes = scratch.allocate(SIZE);
            Copies.copy(streams.getFirst(), bytes, 0, (DeviceMemory) memory, 0, SIZE);
            streams.getFirst().synchronize();
            return bytes.toArray(JAVA_BYTE);
        }
    }

    private static void require(boolean condition, String otherwise, int step) {
        if (!condition) {
            throw new IllegalStateException("step " + step + ": " + otherwise);
        }
    }

    @Override
    public void close() {
        places.forEach(place -> place.memory.close());
        events.forEach(Event::close);
        streams.forEach(Stream::close);
        arena.close();
    }

    private static Arena shared() {
        return Arena.ofShared();
    }

    /** Runs with the seed and the number of steps of the arguments, and prints what the runtime has. */
    public static void main(String[] arguments) {
        try (CopiesModel model = new CopiesModel(Long.parseLong(arguments[0]), _ -> {})) {
            model.run(Integer.parseInt(arguments[1]));
        }
        System.out.println("batches " + (BatchNative.isThere() ? "at once" : "one by one"));
    }
}
