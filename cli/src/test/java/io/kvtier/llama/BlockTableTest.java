package io.kvtier.llama;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Arrays;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class BlockTableTest {
    @Property
    void slotsAreScatteredByBlocks(
            @ForAll @IntRange(min = 1, max = 600) int maxTokens,
            @ForAll @IntRange(min = 1, max = 70) int blockTokens,
            @ForAll @IntRange(min = 1, max = 20) int spareBlocks,
            @ForAll long seed) {
        BlockTable table = BlockTable.permuted(maxTokens, blockTokens, spareBlocks, seed);
        int[] slots = table.slotMapping();

        assertThat(slots).hasSize(maxTokens);
        assertThat(table.blockTokens()).isEqualTo(blockTokens);
        assertThat(table.blocks()).isEqualTo(Math.ceilDiv(maxTokens, blockTokens) + spareBlocks);
        assertThat(Arrays.stream(slots).distinct()).hasSize(maxTokens);
        assertThat(slots[0]).isPositive();
        for (int position = 0; position < maxTokens; position++) {
            assertThat(slots[position]).isBetween(0, table.blocks() * blockTokens - 1);
            assertThat(slots[position] % blockTokens).isEqualTo(position % blockTokens);
            if (position > 0) {
                boolean sameBlock = position % blockTokens != 0;
                assertThat(slots[position] == slots[position - 1] + 1).isEqualTo(sameBlock);
            }
        }
    }

    @Test
    void equalSeedsGiveEqualTables() {
        int[] slots = BlockTable.permuted(512, 16, 8, 5).slotMapping();
        assertThat(BlockTable.permuted(512, 16, 8, 5).slotMapping()).isEqualTo(slots);
        assertThat(BlockTable.permuted(512, 16, 8, 6).slotMapping()).isNotEqualTo(slots);
    }

    @Test
    void mappingIsACopy() {
        BlockTable table = BlockTable.permuted(512, 16, 8, 5);
        int[] slots = table.slotMapping();
        Arrays.fill(slots, -1);
        assertThat(table.slotMapping()).doesNotContain(-1);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "0;16;1; maxTokens must be at least 1, got 0",
                "512;0;1; blockTokens must be at least 1, got 0",
                "512;16;0; spareBlocks must be at least 1, got 0",
                "1;1073741824;1; (1 + 1 spare) blocks of 1073741824 tokens exceed 2147483647 slots",
                "2147483647;1;2147483647; (2147483647 + 2147483647 spare) blocks of 1 tokens exceed 2147483647 slots"
            })
    void refusesImpossibleTables(int maxTokens, int blockTokens, int spareBlocks, String message) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> BlockTable.permuted(maxTokens, blockTokens, spareBlocks, 1))
                .withMessage(message);
    }
}
