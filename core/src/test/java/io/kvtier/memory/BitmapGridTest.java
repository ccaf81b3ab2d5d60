package io.kvtier.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

class BitmapGridTest {
    @Test
    void rowsAreTheGridsOwn() {
        BitmapGrid grid = BitmapGrid.ofSize(3, 70);
        grid.row(1).set(69);
        assertThat(grid.rows()).isEqualTo(3);
        assertThat(grid.columns()).isEqualTo(70);
        assertThat(grid.row(1).nextSet(0)).isEqualTo(69);
        assertThat(grid.row(0).isEmpty() && grid.row(2).isEmpty()).isTrue();
        grid.clearAll();
        assertThat(grid.row(1).isEmpty()).isTrue();
    }

    @Test
    void viewHasRowsOneAfterAnother() {
        byte[] bytes = new byte[49];
        BitmapGrid grid = BitmapGrid.view(MemorySegment.ofArray(bytes), 3, 70);
        for (int row = 0; row < 3; row++) {
            grid.row(row).set(64 + row);
        }
        assertThat(bytes[8]).isEqualTo((byte) 1);
        assertThat(bytes[24]).isEqualTo((byte) 2);
        assertThat(bytes[40]).isEqualTo((byte) 4);
    }

    @Test
    void copyTakesOverAllRows() {
        try (Arena arena = Arena.ofConfined()) {
            BitmapGrid view = BitmapGrid.view(arena.allocate(48), 3, 70);
            BitmapGrid grid = BitmapGrid.ofSize(3, 70);
            for (int row = 0; row < 3; row++) {
                grid.row(row).set(row * 30);
                view.row(row).setAll();
            }
            view.copyFrom(grid);
            for (int row = 0; row < 3; row++) {
                assertThat(view.row(row)).isEqualTo(grid.row(row));
            }
        }
    }

    @Test
    void andKeepsWhatAllOfTheRowsHave() {
        BitmapGrid grid = BitmapGrid.ofSize(3, 4);
        grid.row(0).copyFrom(Bitmap.parse("0111"));
        grid.row(1).copyFrom(Bitmap.parse("1110"));
        Bitmap target = Bitmap.ofPrefix(4, 4);
        grid.andRows(target, 2, 0);
        assertThat(target).hasToString("1111");
        grid.andRows(target, 0, 2);
        assertThat(target).hasToString("0110");
        grid.andRows(target, 0, 3);
        assertThat(target).hasToString("0000");
    }

    @Test
    void overlapIsFoundInAnyRow() {
        BitmapGrid grid = BitmapGrid.ofSize(3, 4);
        assertThat(grid.overlaps(grid.row(2))).isTrue();
        assertThat(grid.overlaps(Bitmap.ofSize(4))).isFalse();
    }

    @Test
    void wrongSizesAreRefused() {
        BitmapGrid grid = BitmapGrid.ofSize(2, 4);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> BitmapGrid.ofSize(0, 4))
                .withMessage("a grid has at least 1 row, got 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> BitmapGrid.ofSize(1, -4))
                .withMessageContaining("-4");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> BitmapGrid.view(MemorySegment.ofArray(new byte[47]), 3, 65))
                .withMessage("3 rows of 65 bits need 48 bytes of memory, got 47");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> grid.copyFrom(BitmapGrid.ofSize(3, 4)))
                .withMessage("two grids must have as many rows, got 2 and 3");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> grid.copyFrom(BitmapGrid.ofSize(2, 5)))
                .withMessage("two bitmaps must be of equal size, got 4 and 5 bits");
        assertThatIllegalArgumentException().isThrownBy(() -> grid.andRows(Bitmap.ofSize(5), 0, 1));
        assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(() -> grid.row(2));
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> grid.andRows(Bitmap.ofSize(4), 1, 2));
    }

    @Test
    void bitsPastARowsEndAreRefused() {
        MemorySegment memory = MemorySegment.ofArray(new byte[16]);
        memory.set(ValueLayout.JAVA_BYTE, 9, (byte) 1);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> BitmapGrid.view(memory, 2, 8))
                .withMessageContaining("of 8 bits, bit 8");
    }

    @Test
    void closedMemoryIsRefused() {
        BitmapGrid grid;
        MemorySegment memory;
        try (Arena arena = Arena.ofConfined()) {
            memory = arena.allocate(48);
            grid = BitmapGrid.view(memory, 3, 70);
        }
        assertThatIllegalStateException().isThrownBy(grid::clearAll);
        assertThatIllegalStateException().isThrownBy(() -> grid.andRows(Bitmap.ofSize(70), 0, 1));
        assertThatIllegalStateException().isThrownBy(() -> BitmapGrid.view(memory, 3, 70));
    }
}
