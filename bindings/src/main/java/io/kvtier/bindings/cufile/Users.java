package io.kvtier.bindings.cufile;

import java.util.concurrent.atomic.AtomicInteger;

/** Counts the users of a native thing, which may not be closed under them. */
final class Users {
    private static final int CLOSED = -1;

    private final String name;
    private final AtomicInteger count = new AtomicInteger();

    /** Creates the count for something that errors call by this name. */
    Users(String name) {
        this.name = name;
    }

    /** Begins a use; {@link #leave} must follow. */
    void enter() {
        for (int users = count.get(); ; users = count.get()) {
            if (users == CLOSED) {
                throw new IllegalStateException(name + " is closed");
            }
            if (count.compareAndSet(users, users + 1)) {
                return;
            }
        }
    }

    /** Ends a use. */
    void leave() {
        count.getAndDecrement();
    }

    /**
     * Lets nobody enter any more.
     *
     * @return whether this call did it; false if it was done before
     * @throws IllegalStateException if there are users; it stays open then
     */
    boolean close() {
        if (count.compareAndSet(0, CLOSED)) {
            return true;
        }
        int users = count.get();
        if (users > 0) {
            throw new IllegalStateException(name + " is in use by " + users + " others; close it after them");
        }
        return users == 0 && close();
    }

    @Override
    public String toString() {
        return name;
    }
}
