package io.kvtier.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.kvtier.memory.Bitmap;
import io.kvtier.memory.BitmapGrid;
import org.junit.jupiter.api.Test;

class ObjectGroupsTest {
    @Test
    void fullAttentionNeedsTheWholePrefix() {
        assertFold(ObjectGroups.of(1, -1), "11100", 3, "11101");
        assertFold(ObjectGroups.of(1, -1), "00000", 0, "01111");
        assertFold(ObjectGroups.of(1, -1), "11111", 5, "11111");
    }

    @Test
    void windowNeedsTheLastChunks() {
        assertFold(ObjectGroups.of(1, 1), "01011", 5, "01011");
        assertFold(ObjectGroups.of(1, 2), "11001", 5, "11011");
        assertFold(ObjectGroups.of(1, 2), "00010", 4, "00110");
        assertFold(ObjectGroups.of(1, 5), "00000", 0, "01111");
    }

    @Test
    void prefixShorterThanTheWindowNeedsAllOfIt() {
        assertFold(ObjectGroups.of(1, 3), "110001", 6, "110111");
        assertFold(ObjectGroups.of(1, 100), "11", 2, "11");
    }

    @Test
    void chunkIsThereOnlyIfEveryRankHasIt() {
        assertFold(ObjectGroups.of(2, 1), "0101", 4, "0111", "1101");
    }

    @Test
    void everyGroupMustServe() {
        // Full attention ends with chunk 4; the lack of chunk 1 rules out 1 and 2.
        assertFold(ObjectGroups.of(1, -1, 2), "1001100", 5, "1111100", "1011111");
        assertFold(ObjectGroups.of(1, 2, -1), "1001100", 5, "1011111", "1111100");
    }

    @Test
    void unfoldClipsThePrefix() {
        ObjectGroups groups = ObjectGroups.of(2, -1, 2);
        Bitmap flat = Bitmap.ofPrefix(12, 12);
        groups.unfold(-5, flat);
        assertThat(flat.isEmpty()).isTrue();
        groups.unfold(3, flat);
        assertThat(flat).hasToString("110011111111");
        groups.unfold(99, flat);
        assertThat(flat).hasToString("110011111111");
        groups.unfold(1, flat);
        assertThat(flat).hasToString("111100000000");
    }

    @Test
    void anythingBelowOneIsFullAttention() {
        assertThat(ObjectGroups.of(2, 0, -7, 5))
                .isEqualTo(ObjectGroups.of(2, -1, -1, 5))
                .hasSameHashCodeAs(ObjectGroups.of(2, -1, -1, 5))
                .isNotEqualTo(ObjectGroups.of(1, -1, -1, 5))
                .isNotEqualTo(ObjectGroups.of(2, -1, 5, -1))
                .hasToString("ranks=2:windows=[-1, -1, 5]");
        assertThat(ObjectGroups.of(1, 0).window(0)).isEqualTo(ObjectGroups.FULL_ATTENTION);
    }

    @Test
    void windowsGivenStayTheCallers() {
        int[] windows = {3};
        ObjectGroups groups = ObjectGroups.of(1, windows);
        windows[0] = 1;
        assertThat(groups.window(0)).isEqualTo(3);
    }

    @Test
    void rowsAreByGroupAndRank() {
        ObjectGroups groups = ObjectGroups.of(3, -1, 4);
        assertThat(groups.groups()).isEqualTo(2);
        assertThat(groups.ranks()).isEqualTo(3);
        assertThat(groups.rows()).isEqualTo(6);
        assertThat(groups.row(1, 2)).isEqualTo(5);
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> groups.row(2, 0));
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> groups.row(0, 3));
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> groups.window(-1));
    }

    @Test
    void noGroupAndNoRankAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ObjectGroups.of(0, 1))
                .withMessage("there must be a rank and a group, got 0 ranks and 1 groups");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ObjectGroups.of(1))
                .withMessage("there must be a rank and a group, got 1 ranks and 0 groups");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ObjectGroups.of(Integer.MAX_VALUE, 1, 2))
                .withMessage("too many rows: 2 groups of 2147483647 ranks");
    }

    @Test
    void wrongSizesAreRefused() {
        ObjectGroups groups = ObjectGroups.of(2, -1, 2);
        BitmapGrid grid = BitmapGrid.ofSize(4, 10);
        BitmapGrid three = BitmapGrid.ofSize(3, 10);
        Bitmap ten = Bitmap.ofPrefix(10, 3);
        Bitmap nine = Bitmap.ofPrefix(9, 3);
        String rows = "a grid has 4 rows (2 groups, 2 ranks), got 3";
        assertThatIllegalArgumentException()
                .isThrownBy(() -> groups.fold(three, ten))
                .withMessage(rows);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> groups.unfold(1, three))
                .withMessage(rows);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> groups.complete(three, ten))
                .withMessage(rows);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> groups.fold(grid, nine))
                .withMessage("the result has a bit for each of 10 chunks, got 9 bits");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> groups.fold(Bitmap.ofSize(42), ten))
                .withMessage("a flat bitmap has 4 bits for each chunk (2 groups, 2 ranks), got 42 bits");
        assertThatIllegalArgumentException().isThrownBy(() -> groups.fold(Bitmap.ofSize(44), ten));
        assertThatIllegalArgumentException().isThrownBy(() -> groups.unfold(1, Bitmap.ofSize(42)));
        assertThat(ten).hasToString("1110000000");
        assertThat(nine).hasToString("111000000");
    }

    @Test
    void resultThatSharesMemoryIsRefused() {
        ObjectGroups groups = ObjectGroups.of(1, -1);
        BitmapGrid grid = BitmapGrid.ofSize(1, 4);
        grid.row(0).set(0);
        String message = "the result of 4 chunks shares memory with what is folded";
        assertThatIllegalArgumentException()
                .isThrownBy(() -> groups.fold(grid, grid.row(0)))
                .withMessage(message);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> groups.fold(grid.row(0), grid.row(0)))
                .withMessage(message);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> groups.complete(grid, grid.row(0)))
                .withMessage(message);
        assertThat(grid.row(0)).hasToString("1000");
    }

    @Test
    void flatPoliciesTrimToTheLeadingOnes() {
        assertFlat(TrimPolicy.PREFIX, "1100", "1100");
        assertFlat(TrimPolicy.SEGMENTED_PREFIX, "1100", "1101");
        assertFlat(TrimPolicy.SPARSE, "1101", "1101");
    }

    private static void assertFlat(TrimPolicy policy, String planned, String retained) {
        Bitmap bits = Bitmap.parse("1101");
        assertThat(policy.plan(bits)).isEqualTo(2);
        assertThat(bits).hasToString(planned);
        bits = Bitmap.parse("1101");
        assertThat(policy.retain(bits)).isEqualTo(2);
        assertThat(bits).hasToString(retained);
    }

    private static void assertFold(ObjectGroups groups, String servable, int prefix, String... rows) {
        BitmapGrid grid = BitmapGrid.ofSize(rows.length, servable.length());
        Bitmap flat = Bitmap.ofSize(rows.length * servable.length());
        for (int row = 0; row < rows.length; row++) {
            grid.row(row).copyFrom(Bitmap.parse(rows[row]));
            for (int chunk = 0; chunk < servable.length(); chunk++) {
                if (rows[row].charAt(chunk) == '1') {
                    flat.set(chunk * rows.length + row);
                }
            }
        }
        Bitmap result = Bitmap.ofSize(servable.length());
        assertThat(groups.fold(grid, result)).isEqualTo(prefix);
        assertThat(result).hasToString(servable);
        assertThat(groups.fold(flat, result)).isEqualTo(prefix);
        assertThat(result).hasToString(servable);
    }
}
