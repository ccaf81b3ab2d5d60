package io.kvtier.object;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvtier.memory.Bitmap;
import io.kvtier.memory.BitmapGrid;
import java.lang.foreign.Arena;
import org.junit.jupiter.api.Test;

/** Bits are counted, combined, folded and walked without Java memory. */
class FoldAllocationTest {
    private static final int CHUNKS = 1000;
    private static final int ROUNDS = 20_000;

    private final ObjectGroups groups = ObjectGroups.of(2, -1, 16, 1);
    private final int[] indices = new int[CHUNKS];
    private long sum;

    @Test
    void heapBitmapsAllocateNothing() throws ReflectiveOperationException {
        BitmapGrid grid = BitmapGrid.ofSize(groups.rows(), CHUNKS);
        assertAllocatesNothing(grid, Bitmap.ofSize(CHUNKS), Bitmap.ofSize(CHUNKS * groups.rows()));
    }

    @Test
    void viewsOfNativeMemoryAllocateNothing() throws ReflectiveOperationException {
        try (Arena arena = Arena.ofConfined()) {
            int flatBits = CHUNKS * groups.rows();
            assertAllocatesNothing(
                    BitmapGrid.view(arena.allocate(groups.rows() * Bitmap.byteSize(CHUNKS), 8), groups.rows(), CHUNKS),
                    Bitmap.view(arena.allocate(Bitmap.byteSize(CHUNKS), 8), CHUNKS),
                    Bitmap.view(arena.allocate(Bitmap.byteSize(flatBits), 8), flatBits));
        }
    }

    private void assertAllocatesNothing(BitmapGrid grid, Bitmap servable, Bitmap flat)
            throws ReflectiveOperationException {
        // Until the code is compiled, what it would allocate is not yet removed.
        long allocated = Long.MAX_VALUE;
        for (int attempt = 0; attempt < 20 && allocated >= ROUNDS; attempt++) {
            long before = allocatedBytes();
            for (int round = 0; round < ROUNDS; round++) {
                allOperations(grid, servable, flat);
            }
            allocated = allocatedBytes() - before;
        }
        assertThat(allocated).as("bytes of %d rounds", ROUNDS).isLessThan(ROUNDS);
        assertThat(sum).isNotZero();
    }

    // The module does not read the one that knows.
    private static long allocatedBytes() throws ReflectiveOperationException {
        Class<?> factory = Class.forName("java.lang.management.ManagementFactory");
        Class<?> threads = Class.forName("com.sun.management.ThreadMXBean");
        Object bean = factory.getMethod("getThreadMXBean").invoke(null);
        return (long) threads.getMethod("getCurrentThreadAllocatedBytes").invoke(bean);
    }

    private void allOperations(BitmapGrid grid, Bitmap servable, Bitmap flat) {
        for (int row = 0; row < grid.rows(); row++) {
            grid.row(row).setRange(0, CHUNKS - row);
        }
        sum += groups.fold(grid, servable);
        sum += TrimPolicy.PREFIX.plan(groups, grid, servable);
        groups.complete(grid, servable);
        groups.unfold(CHUNKS / 2, flat);
        sum += groups.fold(flat, servable);
        servable.or(grid.row(0));
        servable.xor(grid.row(1));
        servable.andNot(grid.row(2));
        servable.erode(5);
        servable.flip(7);
        servable.not();
        sum += servable.gather(indices, 0);
        servable.setEach(indices, 0, 9);
        for (int i = servable.nextSet(0); i >= 0; i = servable.nextSet(i + 1)) {
            sum += i;
        }
        sum += servable.count() + servable.leadingOnes() + servable.highestSet() + servable.hashCode();
        sum += servable.equals(grid.row(0)) ? 1 : 0;
    }
}
