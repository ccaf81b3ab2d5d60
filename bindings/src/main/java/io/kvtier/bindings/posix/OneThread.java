package io.kvtier.bindings.posix;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/** Refuses a second thread in what is for one thread at a time; the thread inside may enter again. */
final class OneThread {
    private static final VarHandle OWNER;

    static {
        try {
            OWNER = MethodHandles.lookup().findVarHandle(OneThread.class, "owner", Thread.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final String name;
    private volatile @Nullable Thread owner;

    OneThread(String name) {
        this.name = name;
    }

    /** Enters; returns whether this is the outermost call of the thread, which {@link #exit} must be told. */
    boolean enter() {
        Thread current = Thread.currentThread();
        if (owner == current) {
            return false;
        }
        if (!OWNER.compareAndSet(this, null, current)) {
            throw new IllegalStateException(
                    name + " is in use by another thread, " + owner + "; it is for one thread at a time");
        }
        return true;
    }

    void exit(boolean outermost) {
        if (outermost) {
            owner = null;
        }
    }
}
