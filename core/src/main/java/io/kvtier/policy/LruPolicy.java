package io.kvtier.policy;

import java.util.function.IntPredicate;

/** Least recently used: the object whose last use lies furthest back goes first. */
final class LruPolicy implements EvictionPolicy {
    private final SlotList order = new SlotList();

    @Override
    public void added(int slot) {
        order.addFirst(slot);
    }

    @Override
    public void touched(int slot) {
        order.remove(slot);
        order.addFirst(slot);
    }

    @Override
    public void removed(int slot) {
        order.remove(slot);
    }

    @Override
    public int victim(IntPredicate evictable) {
        return order.lastWhere(evictable);
    }
}
