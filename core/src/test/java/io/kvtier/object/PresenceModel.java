package io.kvtier.object;

import io.kvtier.memory.Bitmap;
import io.kvtier.memory.BitmapGrid;
import java.util.Random;

/** Which objects are there, as plain loops over {@code present[chunk][group][rank]}. */
final class PresenceModel {
    final ObjectGroups groups;
    final boolean[][][] present;

    PresenceModel(ObjectGroups groups, int chunks) {
        this.groups = groups;
        this.present = new boolean[chunks][groups.groups()][groups.ranks()];
    }

    /** Makes a presence with few gaps, many, or only behind a prefix. */
    static PresenceModel random(Random random, ObjectGroups groups, int chunks) {
        PresenceModel model = new PresenceModel(groups, chunks);
        double lacking = new double[] {0, 0.002, 0.05, 0.5, 1}[random.nextInt(5)];
        int whole = random.nextInt(chunks + 1);
        for (int chunk = 0; chunk < chunks; chunk++) {
            for (boolean[] ranks : model.present[chunk]) {
                for (int rank = 0; rank < ranks.length; rank++) {
                    ranks[rank] = chunk < whole || random.nextDouble() >= lacking;
                }
            }
        }
        return model;
    }

    static ObjectGroups randomGroups(Random random) {
        int[] windows = new int[1 + random.nextInt(6)];
        for (int group = 0; group < windows.length; group++) {
            windows[group] = new int[] {-1, 0, 1, 2, 16, 1 + random.nextInt(300), Integer.MAX_VALUE}[random.nextInt(7)];
        }
        return ObjectGroups.of(1 + random.nextInt(9), windows);
    }

    int chunks() {
        return present.length;
    }

    /** Whether a prefix of so many chunks can be served, by definition. */
    boolean serves(int prefix) {
        for (int chunk = 0; chunk < prefix; chunk++) {
            for (int group = 0; group < groups.groups(); group++) {
                for (int rank = 0; rank < groups.ranks(); rank++) {
                    if (needs(prefix, chunk, group) && !present[chunk][group][rank]) {
                        return false;
                    }
                }
            }
        }
        return true;
    }

    /** Whether a group needs a chunk of a prefix. */
    boolean needs(int prefix, int chunk, int group) {
        int window = groups.window(group);
        return chunk < prefix && (window < 1 || (long) chunk + window >= prefix);
    }

    Bitmap servable() {
        Bitmap servable = Bitmap.ofSize(chunks());
        for (int chunk = 0; chunk < chunks(); chunk++) {
            if (serves(chunk + 1)) {
                servable.set(chunk);
            }
        }
        return servable;
    }

    /** Returns the longest prefix that can be served. */
    int prefix() {
        int prefix = chunks();
        while (prefix > 0 && !serves(prefix)) {
            prefix--;
        }
        return prefix;
    }

    /** Returns what a prefix needs. */
    PresenceModel needed(int prefix) {
        PresenceModel needed = new PresenceModel(groups, chunks());
        for (int chunk = 0; chunk < chunks(); chunk++) {
            for (int group = 0; group < groups.groups(); group++) {
                for (int rank = 0; rank < groups.ranks(); rank++) {
                    needed.present[chunk][group][rank] = needs(prefix, chunk, group);
                }
            }
        }
        return needed;
    }

    BitmapGrid grid() {
        BitmapGrid grid = BitmapGrid.ofSize(groups.rows(), chunks());
        for (int chunk = 0; chunk < chunks(); chunk++) {
            for (int group = 0; group < groups.groups(); group++) {
                for (int rank = 0; rank < groups.ranks(); rank++) {
                    if (present[chunk][group][rank]) {
                        grid.row(group * groups.ranks() + rank).set(chunk);
                    }
                }
            }
        }
        return grid;
    }

    Bitmap flat() {
        Bitmap flat = Bitmap.ofSize(groups.rows() * chunks());
        for (int chunk = 0; chunk < chunks(); chunk++) {
            for (int group = 0; group < groups.groups(); group++) {
                for (int rank = 0; rank < groups.ranks(); rank++) {
                    if (present[chunk][group][rank]) {
                        flat.set(chunk * groups.groups() * groups.ranks() + group * groups.ranks() + rank);
                    }
                }
            }
        }
        return flat;
    }
}
