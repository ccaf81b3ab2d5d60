package io.kvtier.bindings;

import java.lang.reflect.Method;

/** What a thread allocates on the heap; by reflection, since the module does not need the management modules otherwise. */
public final class Allocations {
    private static final Object THREADS;
    private static final Method BYTES;

    static {
        try {
            THREADS = Class.forName("java.lang.management.ManagementFactory")
                    .getMethod("getThreadMXBean")
                    .invoke(null);
            BYTES = Class.forName("com.sun.management.ThreadMXBean").getMethod("getThreadAllocatedBytes", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private Allocations() {}

    /** Returns the bytes that this thread has allocated since it started. */
    public static long ofThisThread() {
        try {
            return (long) BYTES.invoke(THREADS, Thread.currentThread().threadId());
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }
}
