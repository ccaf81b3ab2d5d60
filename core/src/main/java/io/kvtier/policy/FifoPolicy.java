package io.kvtier.policy;

import java.util.function.IntPredicate;

/** First in, first out: the object that became resident first goes first, however often it was used. */
final class FifoPolicy implements EvictionPolicy {
    private final SlotList order = new SlotList();

    @Override
    public void added(int slot) {
        order.addFirst(slot);
    }

    @Override
    public void touched(int slot) {
        if (!order.contains(slot)) {
            throw new IllegalStateException("slot " + slot + " is not in the order");
        }
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
