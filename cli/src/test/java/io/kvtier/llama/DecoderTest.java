package io.kvtier.llama;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.sun.management.ThreadMXBean;
import io.kvtier.layout.ElementType;
import io.kvtier.layout.KvLayout;
import io.kvtier.transfer.PagedKv;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class DecoderTest {
    private static final int STEPS = 40;
    private static final BlockTable TABLE = BlockTable.permuted(512, 16, 5, 1);
    private static final GreedyRun RUN = new GreedyRun(TABLE, STEPS);

    private final Decoder decoder = new Decoder(GreedyRun.WEIGHTS);
    private final int[] slots = TABLE.slotMapping();
    private final PagedKv kv = allocate(TABLE);

    @ParameterizedTest
    @CsvSource({"1, 3, 2", "16, 1, 3", "32, 4, 4", "64, 2, 5", "512, 1, 6"})
    void blockTablesMakeNoDifference(int blockTokens, int spareBlocks, long seed) {
        GreedyRun other = new GreedyRun(BlockTable.permuted(512, blockTokens, spareBlocks, seed), STEPS);
        assertThat(other.ids).isEqualTo(RUN.ids);
        assertThat(bits(other.logits)).isEqualTo(bits(RUN.logits));
    }

    @Test
    void identityMappingMakesNoDifference() {
        int[] identity = IntStream.range(0, 512).toArray();
        for (int position = 0; position < STEPS; position++) {
            float[] logits = decoder.step(RUN.ids[position], position, kv, identity);
            assertThat(bits(logits)).isEqualTo(bits(RUN.logits[position]));
        }
    }

    @Test
    void restoredKvGivesTheBitsOfComputedKv() {
        int reused = 29;
        int[] otherSlots = BlockTable.permuted(512, 16, 5, 99).slotMapping();
        for (int layer = 0; layer < kv.layout().layers(); layer++) {
            for (int plane = 0; plane < kv.layout().planes(); plane++) {
                for (int position = 0; position < reused; position++) {
                    copyRow(
                            RUN.kv.plane(layer, plane),
                            RUN.slots[position],
                            kv.plane(layer, plane),
                            otherSlots[position]);
                }
            }
        }
        for (int position = reused; position < STEPS; position++) {
            float[] logits = decoder.step(RUN.ids[position], position, kv, otherSlots);
            assertThat(bits(logits)).isEqualTo(bits(RUN.logits[position]));
        }
    }

    @Test
    void prefillWritesWhatStepsWrite() {
        decoder.prefill(RUN.ids, 0, 17, kv, slots);
        decoder.prefill(RUN.ids, 17, 17, kv, slots);
        decoder.prefill(RUN.ids, 17, STEPS, kv, slots);
        for (int layer = 0; layer < kv.layout().layers(); layer++) {
            for (int plane = 0; plane < kv.layout().planes(); plane++) {
                assertThat(kv.plane(layer, plane).mismatch(RUN.kv.plane(layer, plane)))
                        .isEqualTo(-1);
            }
        }
    }

    @Test
    void otherRowsStayAsTheyAre() {
        PagedKv untouched = allocate(TABLE);
        fill(kv, (byte) 0x5a);
        fill(untouched, (byte) 0x5a);
        decoder.step(Tokenizer.START, 0, kv, slots);
        for (int layer = 0; layer < kv.layout().layers(); layer++) {
            for (int plane = 0; plane < kv.layout().planes(); plane++) {
                MemorySegment written = kv.plane(layer, plane);
                MemorySegment expected = untouched.plane(layer, plane);
                assertThat(written.mismatch(expected)).isNotEqualTo(-1);
                copyRow(expected, slots[0], written, slots[0]);
                assertThat(written.mismatch(expected)).isEqualTo(-1);
            }
        }
    }

    @Test
    void stepsAllocateNothing() {
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        stepThrough(512);
        long before = threads.getCurrentThreadAllocatedBytes();
        stepThrough(512);
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
        assertThat(allocated).as("less than an object per step").isLessThan(512 * 16);
    }

    @Test
    void kvMayLieInTheHeap() {
        List<MemorySegment> planes = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            planes.add(MemorySegment.ofArray(
                    new byte[TABLE.blocks() * TABLE.blockTokens() * kv.layout().rowBytes()]));
        }
        PagedKv heap = new PagedKv(kv.layout(), TABLE.blocks(), TABLE.blockTokens(), planes);
        for (int position = 0; position < 20; position++) {
            float[] logits = decoder.step(RUN.ids[position], position, heap, slots);
            assertThat(bits(logits)).isEqualTo(bits(RUN.logits[position]));
        }
    }

    @Test
    void wholeSequenceFits() {
        int[] tokens = new int[512];
        Arrays.fill(tokens, 300);
        decoder.prefill(tokens, 0, 511, kv, slots);
        assertThat(decoder.step(300, 511, kv, slots)).hasSize(512).doesNotContain(Float.NaN);
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> decoder.step(300, 512, kv, slots))
                .withMessage("position 512 is not within the model's 512 tokens");
    }

    @ParameterizedTest
    @CsvSource({"-1", "512", "2147483647"})
    void refusesUnknownToken(int token) {
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> decoder.step(token, 3, kv, slots))
                .withMessage("token " + token + " at position 3 is not in the vocabulary of 512 tokens");
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> decoder.prefill(new int[] {1, token}, 0, 2, kv, slots))
                .withMessage("token " + token + " at position 1 is not in the vocabulary of 512 tokens");
        assertThat(kv.plane(0, 0).mismatch(allocate(TABLE).plane(0, 0))).isEqualTo(-1);
    }

    @Test
    void refusesPositionsOutsideTheMapping() {
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> decoder.step(1, -1, kv, slots))
                .withMessage("position -1 is not within the model's 512 tokens");
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> decoder.step(1, 8, kv, new int[8]))
                .withMessage("position 8 is not within the slot mapping of 8 tokens");
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> decoder.prefill(new int[] {1, 2}, 1, 3, kv, slots));
    }

    @ParameterizedTest
    @CsvSource({"-1", "592"})
    void refusesSlotsOutsideTheKv(int slot) {
        slots[2] = slot;
        assertThat(kv.slots()).isEqualTo(592);
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> decoder.step(1, 5, kv, slots))
                .withMessage("slot " + slot + " of position 2 is not within the paged KV of 592 slots");
        assertThat(decoder.step(1, 0, kv, slots)).hasSize(512);
    }

    @Test
    void refusesKvOfAnotherLayout() {
        PagedKv other = PagedKv.allocate(KvLayout.keyValue(ElementType.F16, 5, 4, 8), 40, 16, Arena.ofAuto());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> decoder.step(1, 0, other, slots))
                .withMessage("paged KV must have layout kv:f32:layers=5:heads=4:headSize=8,"
                        + " has kv:f16:layers=5:heads=4:headSize=8");
    }

    @Test
    void nothingIsWrittenToReadOnlyKv() {
        List<MemorySegment> planes = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            planes.add(kv.plane(i / 2, i % 2).asReadOnly());
        }
        PagedKv readOnly = new PagedKv(kv.layout(), kv.blocks(), kv.blockTokens(), planes);
        assertThatIllegalArgumentException().isThrownBy(() -> decoder.step(1, 0, readOnly, slots));
    }

    private void stepThrough(int steps) {
        for (int position = 0; position < steps; position++) {
            decoder.step(position, position, kv, slots);
        }
    }

    private static PagedKv allocate(BlockTable table) {
        return PagedKv.allocate(
                GreedyRun.WEIGHTS.config().kvLayout(), table.blocks(), table.blockTokens(), Arena.ofAuto());
    }

    private static void fill(PagedKv kv, byte value) {
        for (int layer = 0; layer < kv.layout().layers(); layer++) {
            kv.plane(layer, 0).fill(value);
            kv.plane(layer, 1).fill(value);
        }
    }

    private long rowOffset(int slot) {
        return (long) slot * kv.layout().rowBytes();
    }

    private void copyRow(MemorySegment from, int fromSlot, MemorySegment to, int toSlot) {
        int rowBytes = kv.layout().rowBytes();
        MemorySegment.copy(
                from,
                ValueLayout.JAVA_BYTE,
                rowOffset(fromSlot),
                to,
                ValueLayout.JAVA_BYTE,
                rowOffset(toSlot),
                rowBytes);
    }

    private static int[] bits(float[] logits) {
        int[] bits = new int[logits.length];
        for (int i = 0; i < bits.length; i++) {
            bits[i] = Float.floatToRawIntBits(logits[i]);
        }
        return bits;
    }

    private static int[][] bits(float[][] logits) {
        return Arrays.stream(logits).map(DecoderTest::bits).toArray(int[][]::new);
    }
}
