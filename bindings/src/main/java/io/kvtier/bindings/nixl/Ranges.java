package io.kvtier.bindings.nixl;

import java.util.Comparator;
import java.util.List;

/** What some descriptors cover, ordered, to find out whether others touch it. */
final class Ranges {
    private final MemoryType type;
    private final List<Descriptors.Entry> sorted;
    /** For each entry the furthest end of those of its device up to it: entries may overlap. */
    private final long[] ends;

    Ranges(Descriptors descriptors) {
        type = descriptors.type();
        sorted = descriptors.entries().stream()
                .sorted(Comparator.comparingLong(Descriptors.Entry::device)
                        .thenComparingLong(Descriptors.Entry::address))
                .toList();
        ends = new long[sorted.size()];
        for (int i = 0; i < ends.length; i++) {
            Descriptors.Entry entry = sorted.get(i);
            boolean sameDevice = i > 0 && sorted.get(i - 1).device() == entry.device();
            ends[i] = sameDevice ? Math.max(ends[i - 1], entry.end()) : entry.end();
        }
    }

    /** Returns whether any of the descriptors touches what these cover. */
    boolean touchedBy(Descriptors descriptors) {
        return type == descriptors.type() && descriptors.entries().stream().anyMatch(this::touchedBy);
    }

    private boolean touchedBy(Descriptors.Entry entry) {
        int last = lastStartingBefore(entry.device(), entry.end());
        return last >= 0 && sorted.get(last).device() == entry.device() && ends[last] > entry.address();
    }

    private int lastStartingBefore(long device, long end) {
        int low = 0;
        int high = sorted.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            Descriptors.Entry entry = sorted.get(middle);
            boolean before = entry.device() < device || (entry.device() == device && entry.address() < end);
            if (before) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low - 1;
    }
}
