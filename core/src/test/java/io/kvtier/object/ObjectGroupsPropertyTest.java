package io.kvtier.object;

import static org.assertj.core.api.Assertions.assertThat;

import io.kvtier.memory.Bitmap;
import io.kvtier.memory.BitmapGrid;
import java.lang.foreign.Arena;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;

/** Fold, unfold and trim in both forms against plain loops. */
class ObjectGroupsPropertyTest {
    @Property(tries = 600, shrinking = ShrinkingMode.OFF)
    void foldIsWhatTheLoopsSay(@ForAll long seed) {
        PresenceModel model = model(new Random(seed));
        Bitmap servable = Bitmap.ofPrefix(model.chunks(), model.chunks() / 2);
        BitmapGrid grid = model.grid();
        assertThat(model.groups.fold(grid, servable)).isEqualTo(model.prefix());
        assertThat(servable).isEqualTo(model.servable());
        assertSame(grid, model.grid());

        Bitmap flat = model.flat();
        servable.not();
        assertThat(model.groups.fold(flat, servable)).isEqualTo(model.prefix());
        assertThat(servable).isEqualTo(model.servable());
        assertThat(flat).isEqualTo(model.flat());
    }

    @Property(tries = 600, shrinking = ShrinkingMode.OFF)
    void unfoldIsWhatTheLoopsSay(@ForAll long seed) {
        Random random = new Random(seed);
        PresenceModel model = model(random);
        BitmapGrid grid = model.grid();
        Bitmap flat = model.flat();
        int prefix = random.nextInt(-3, model.chunks() + 4);
        PresenceModel needed = model.needed(Math.min(prefix, model.chunks()));
        model.groups.unfold(prefix, grid);
        assertSame(grid, needed.grid());
        model.groups.unfold(prefix, flat);
        assertThat(flat).isEqualTo(needed.flat());
    }

    @Property(tries = 600, shrinking = ShrinkingMode.OFF)
    void trimKeepsWhatThePrefixNeedsAndWasFound(@ForAll long seed) {
        PresenceModel model = model(new Random(seed));
        BitmapGrid grid = model.grid();
        Bitmap servable = Bitmap.ofSize(model.chunks());
        assertThat(model.groups.trim(grid, servable)).isEqualTo(model.prefix());
        assertSame(grid, model.needed(model.prefix()).grid());
        assertThat(servable).isEqualTo(model.servable());
        BitmapGrid found = model.grid();
        for (int row = 0; row < found.rows(); row++) {
            assertThat(found.row(row).contains(grid.row(row))).isTrue();
        }
    }

    @Property(tries = 300, shrinking = ShrinkingMode.OFF)
    void withFullAttentionTheResultIsTheLeadingOnes(@ForAll long seed) {
        Random random = new Random(seed);
        int[] windows = new int[1 + random.nextInt(4)];
        PresenceModel model =
                PresenceModel.random(random, ObjectGroups.of(1 + random.nextInt(4), windows), random.nextInt(200));
        Bitmap complete = Bitmap.ofSize(model.chunks());
        model.groups.complete(model.grid(), complete);
        for (int chunk = 0; chunk < model.chunks(); chunk++) {
            boolean all = true;
            for (boolean[] ranks : model.present[chunk]) {
                for (boolean there : ranks) {
                    all &= there;
                }
            }
            assertThat(complete.get(chunk)).isEqualTo(all);
        }
        Bitmap servable = Bitmap.ofSize(model.chunks());
        assertThat(model.groups.fold(model.grid(), servable)).isEqualTo(complete.leadingOnes());
        assertThat(servable).isEqualTo(Bitmap.ofPrefix(model.chunks(), complete.leadingOnes()));
    }

    @Property(tries = 300, shrinking = ShrinkingMode.OFF)
    void lessFoundNeverServesMore(@ForAll long seed) {
        Random random = new Random(seed);
        PresenceModel model = model(random);
        Bitmap before = Bitmap.ofSize(model.chunks());
        Bitmap after = Bitmap.ofSize(model.chunks());
        BitmapGrid grid = model.grid();
        model.groups.fold(grid, before);
        for (int i = 0; i < 5 && model.chunks() > 0; i++) {
            grid.row(random.nextInt(grid.rows())).clear(random.nextInt(model.chunks()));
        }
        model.groups.fold(grid, after);
        assertThat(before.contains(after)).isTrue();
    }

    @Property(tries = 200, shrinking = ShrinkingMode.OFF)
    void nativeMemoryFoldsLikeTheHeap(@ForAll long seed) {
        PresenceModel model = model(new Random(seed));
        try (Arena arena = Arena.ofConfined()) {
            long rowBytes = Bitmap.byteSize(model.chunks());
            BitmapGrid grid = BitmapGrid.view(
                    arena.allocate(model.groups.rows() * rowBytes), model.groups.rows(), model.chunks());
            grid.copyFrom(model.grid());
            Bitmap servable = Bitmap.view(arena.allocate(rowBytes), model.chunks());
            assertThat(model.groups.trim(grid, servable)).isEqualTo(model.prefix());
            assertThat(servable).isEqualTo(model.servable());
            assertSame(grid, model.needed(model.prefix()).grid());
        }
    }

    @Property(tries = 300, shrinking = ShrinkingMode.OFF)
    void policiesKeepWhatTheySay(@ForAll long seed) {
        PresenceModel model = model(new Random(seed));
        PresenceModel prefix = model.needed(model.prefix());
        assertPolicy(TrimPolicy.PREFIX, model, prefix, prefix);
        assertPolicy(TrimPolicy.SEGMENTED_PREFIX, model, prefix, model);
        assertPolicy(TrimPolicy.SPARSE, model, model, model);
    }

    private static void assertPolicy(
            TrimPolicy policy, PresenceModel found, PresenceModel planned, PresenceModel retained) {
        Bitmap servable = Bitmap.ofSize(found.chunks());
        BitmapGrid grid = found.grid();
        assertThat(policy.plan(found.groups, grid, servable)).isEqualTo(found.prefix());
        assertThat(servable).isEqualTo(found.servable());
        assertSame(grid, planned.grid());
        grid = found.grid();
        assertThat(policy.retain(found.groups, grid, servable)).isEqualTo(found.prefix());
        assertThat(servable).isEqualTo(found.servable());
        assertSame(grid, retained.grid());
    }

    private static PresenceModel model(Random random) {
        int chunks = new int[] {0, 1, 63, 64, 65, random.nextInt(140)}[random.nextInt(6)];
        return PresenceModel.random(random, PresenceModel.randomGroups(random), chunks);
    }

    private static void assertSame(BitmapGrid grid, BitmapGrid expected) {
        for (int row = 0; row < expected.rows(); row++) {
            assertThat(grid.row(row)).as("row %d", row).isEqualTo(expected.row(row));
        }
    }
}
