package io.kvtier.bindings.posix;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvtier.bindings.NativeHandles;
import io.kvtier.bindings.posix.NativeFile.Option;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Random operations on a file give what the same on an array gives. */
@EnabledOnOs(OS.LINUX)
class NativeFileModelTest {
    private static final int MOST = 64 << 10;
    private static final int STEPS = 5_000;

    @TempDir
    Path folder;

    private byte[] model = new byte[0];

    @Test
    void fileIsAnArrayOfBytes() {
        long seed = Long.getLong("kvtier.seed", System.nanoTime());
        System.out.println("NativeFileModelTest: -Dkvtier.seed=" + seed);
        Random random = new Random(seed);
        try (NativeFile file = NativeFile.open(folder.resolve("file"), Option.READ, Option.WRITE, Option.CREATE);
                Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(MOST);
            for (int step = 0; step < STEPS; step++) {
                step(file, buffer, random);
                assertThat(file.size()).as("step %d", step).isEqualTo(model.length);
            }
            long read = file.read(buffer, 0);
            assertThat(buffer.asSlice(0, read).toArray(ValueLayout.JAVA_BYTE)).isEqualTo(model);
        }
        assertThat(NativeHandles.live()).isEmpty();
    }

    private void step(NativeFile file, MemorySegment buffer, Random random) {
        int position = random.nextInt(MOST / 2);
        int bytes = 1 + random.nextInt(MOST / 8);
        switch (random.nextInt(8)) {
            case 0, 1 -> write(file, random(buffer, random, bytes), position);
            case 2 -> writeList(file, random(buffer, random, bytes), position, random);
            case 3, 4 -> read(file, buffer, position, bytes);
            case 5 -> readList(file, buffer.asSlice(0, bytes), position, random);
            case 6 -> punch(file, position, bytes);
            default -> truncate(file, random.nextInt(MOST / 2));
        }
    }

    private static MemorySegment random(MemorySegment buffer, Random random, int bytes) {
        byte[] data = new byte[bytes];
        random.nextBytes(data);
        return buffer.asSlice(0, bytes).copyFrom(MemorySegment.ofArray(data));
    }

    private void write(NativeFile file, MemorySegment data, int position) {
        file.write(data, position);
        remember(data, position);
    }

    private void writeList(NativeFile file, MemorySegment data, int position, Random random) {
        file.write(list(data, random), position);
        remember(data, position);
    }

    private void remember(MemorySegment data, int position) {
        int end = position + (int) data.byteSize();
        model = Arrays.copyOf(model, Math.max(model.length, end));
        MemorySegment.copy(data, ValueLayout.JAVA_BYTE, 0, model, position, end - position);
    }

    private void read(NativeFile file, MemorySegment buffer, int position, int bytes) {
        check(buffer, file.read(buffer, 0, bytes, position), position, bytes);
    }

    private void readList(NativeFile file, MemorySegment buffer, int position, Random random) {
        check(buffer, file.read(list(buffer, random), position), position, (int) buffer.byteSize());
    }

    private void check(MemorySegment buffer, long read, int position, int bytes) {
        int there = Math.clamp((long) model.length - position, 0, bytes);
        assertThat(read).isEqualTo(there);
        int from = Math.min(position, model.length);
        assertThat(buffer.asSlice(0, read).toArray(ValueLayout.JAVA_BYTE))
                .isEqualTo(Arrays.copyOfRange(model, from, from + there));
    }

    private void punch(NativeFile file, int position, int bytes) {
        file.punchHole(position, bytes);
        Arrays.fill(model, Math.min(position, model.length), Math.min(position + bytes, model.length), (byte) 0);
    }

    private void truncate(NativeFile file, int bytes) {
        file.truncate(bytes);
        model = Arrays.copyOf(model, bytes);
    }

    private static IoVectors list(MemorySegment data, Random random) {
        IoVectors list = IoVectors.ofCapacity(20);
        long from = 0;
        while (list.count() < 19) {
            long bytes = random.nextLong(data.byteSize() - from + 1) / 3;
            list.add(data.asSlice(from, bytes));
            from += bytes;
        }
        return list.add(data.asSlice(from));
    }
}
