package io.kvtier.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.util.BitSet;
import java.util.Random;
import java.util.function.Consumer;

/** A bitmap beside a {@link BitSet} of the same bits. */
final class SampleBits {
    /** What holds a bitmap's bits. */
    enum Kind {
        HEAP,
        LONGS,
        PART_OF_LONGS,
        BYTES_UNALIGNED,
        NATIVE,
        MAPPED
    }

    private static final int MAPPED_BYTES = 1 << 20;
    private static final MemorySegment MAPPED = map();
    private static long mappedInUse;

    final int size;
    final Bitmap bitmap;
    final BitSet model;
    private final MemorySegment memory;

    private SampleBits(int size, Bitmap bitmap, MemorySegment memory) {
        this.size = size;
        this.bitmap = bitmap;
        this.memory = memory;
        this.model = new BitSet(size);
    }

    static SampleBits zeros(Kind kind, int size) {
        int bytes = Math.toIntExact(Bitmap.byteSize(size));
        MemorySegment memory = switch (kind) {
            case HEAP -> null;
            case LONGS -> MemorySegment.ofArray(new long[bytes / 8]);
            case PART_OF_LONGS -> MemorySegment.ofArray(new long[bytes / 8 + 2]).asSlice(8, bytes);
            case BYTES_UNALIGNED -> MemorySegment.ofArray(new byte[bytes + 3]).asSlice(3);
            case NATIVE -> Arena.ofAuto().allocate(bytes + 1).asSlice(1);
            case MAPPED -> mapped(bytes);
        };
        return new SampleBits(size, memory == null ? Bitmap.ofSize(size) : Bitmap.view(memory, size), memory);
    }

    // Samples live shortly, so their memory may be used again after a while.
    private static MemorySegment mapped(int bytes) {
        long at = mappedInUse + bytes > MAPPED_BYTES ? 0 : mappedInUse;
        mappedInUse = at + bytes;
        return MAPPED.asSlice(at, bytes).fill((byte) 0);
    }

    private static MemorySegment map() {
        try (FileChannel file = FileChannel.open(
                Files.createTempFile("bitmap", null),
                StandardOpenOption.READ,
                StandardOpenOption.WRITE,
                StandardOpenOption.DELETE_ON_CLOSE)) {
            return file.map(FileChannel.MapMode.READ_WRITE, 0, MAPPED_BYTES, Arena.global());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static SampleBits zeros(Random random, int size) {
        return zeros(Kind.values()[random.nextInt(Kind.values().length)], size);
    }

    /** Makes bits in runs: of one bit, of about a word, of many words, or all the same. */
    static SampleBits random(Random random, int size) {
        SampleBits sample = zeros(random, size);
        int longest = new int[] {1, 3, 100, 1000, Integer.MAX_VALUE}[random.nextInt(5)];
        boolean bit = random.nextBoolean();
        for (int at = 0; at < size; bit = longest == 1 ? random.nextBoolean() : !bit) {
            int end = (int) Math.min(size, (long) at + 1 + random.nextInt(longest));
            for (; at < end; at++) {
                if (bit) {
                    sample.bitmap.set(at);
                    sample.model.set(at);
                }
            }
        }
        return sample;
    }

    /** Makes bits of which about so many of 100 are 1. */
    static SampleBits dense(Random random, int size, int percent) {
        SampleBits sample = zeros(random, size);
        for (int i = 0; i < size; i++) {
            if (random.nextInt(100) < percent) {
                sample.bitmap.set(i);
                sample.model.set(i);
            }
        }
        return sample;
    }

    /** Changes both and compares them. */
    void change(Consumer<Bitmap> ours, Consumer<BitSet> theirs) {
        ours.accept(bitmap);
        theirs.accept(model);
        check();
    }

    void check() {
        assertThat(bitmap.size()).isEqualTo(size);
        assertThat(toBitSet(bitmap)).isEqualTo(model);
        if (memory != null) {
            long bytes = Bitmap.byteSize(size);
            byte[] raw = memory.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE);
            assertThat(BitSet.valueOf(raw)).as("memory").isEqualTo(model);
        }
        assertThat(bitmap).as("bits past the end").isEqualTo(rebuilt());
    }

    private Bitmap rebuilt() {
        Bitmap other = Bitmap.ofSize(size);
        model.stream().forEach(other::set);
        return other;
    }

    static BitSet toBitSet(Bitmap bitmap) {
        BitSet bits = new BitSet(bitmap.size());
        for (int i = 0; i < bitmap.size(); i++) {
            bits.set(i, bitmap.get(i));
        }
        return bits;
    }
}
