package io.kvtier.jmh;

import io.kvtier.memory.PagePool;
import io.kvtier.memory.Slab;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.infra.ThreadParams;

/**
 * What a page costs. A pool is 90 % in use; each thread holds its share of pages in a ring, frees the oldest and
 * allocates a new one. The anchors hold as many blocks of the same size.
 */
public class PagePoolBenchmark {
    private static final long SLAB_BYTES = 512L << 20;
    private static final int PERCENT_IN_USE = 90;

    @Benchmark
    public long kvtier(Pages pages) {
        return pages.exchange();
    }

    @Benchmark
    @Threads(2)
    public long kvtierTwoThreads(Pages pages) {
        return pages.exchange();
    }

    @Benchmark
    public long malloc(Blocks blocks) {
        return blocks.exchange();
    }

    @Benchmark
    @Threads(2)
    public long mallocTwoThreads(Blocks blocks) {
        return blocks.exchange();
    }

    @Benchmark
    public ByteBuf netty(Buffers buffers) {
        return buffers.exchange();
    }

    @Benchmark
    @Threads(2)
    public ByteBuf nettyTwoThreads(Buffers buffers) {
        return buffers.exchange();
    }

    /** The size of a page. */
    @State(Scope.Benchmark)
    public static class Size {
        @Param({"65536", "1048576"})
        int pageBytes;

        /** Returns how many pages a thread holds. */
        int held(int threads) {
            return (int) (SLAB_BYTES / pageBytes * PERCENT_IN_USE / 100 / threads);
        }
    }

    /** The pool of all threads. */
    @State(Scope.Benchmark)
    @SuppressWarnings("NullAway.Init")
    public static class Pool {
        PagePool pool;
        private Slab slab;

        /** Opens the pool. */
        @Setup
        @SuppressWarnings("MustBeClosedChecker")
        public void open(Size size) {
            slab = Slab.allocate(SLAB_BYTES);
            pool = new PagePool(slab, size.pageBytes);
        }

        /** Closes the pool. */
        @TearDown
        public void close() {
            slab.close();
        }
    }

    /** Pages that a thread holds. */
    @State(Scope.Thread)
    @SuppressWarnings("NullAway.Init")
    public static class Pages {
        private PagePool pool;
        private long[] ring;
        private int oldest;

        /** Fills the ring. */
        @Setup
        public void fill(Size size, Pool shared, ThreadParams threads) {
            pool = shared.pool;
            ring = new long[size.held(threads.getThreadCount())];
            if (!pool.allocate(ring, 0, ring.length)) {
                throw new IllegalStateException("the pool has no " + ring.length + " pages");
            }
        }

        long exchange() {
            int at = oldest;
            pool.free(ring[at]);
            long page = pool.allocate();
            ring[at] = page;
            oldest = at + 1 < ring.length ? at + 1 : 0;
            return page;
        }
    }

    /** Blocks of {@code malloc} that a thread holds. */
    @State(Scope.Thread)
    @SuppressWarnings("NullAway.Init")
    public static class Blocks {
        private long bytes;
        private long[] ring;
        private int oldest;

        /** Fills the ring. */
        @Setup
        public void fill(Size size, ThreadParams threads) {
            bytes = size.pageBytes;
            ring = new long[size.held(threads.getThreadCount())];
            for (int i = 0; i < ring.length; i++) {
                ring[i] = LibcNative.malloc(bytes);
            }
        }

        long exchange() {
            int at = oldest;
            LibcNative.free(ring[at]);
            long block = LibcNative.malloc(bytes);
            ring[at] = block;
            oldest = at + 1 < ring.length ? at + 1 : 0;
            return block;
        }

        /** Frees the blocks. */
        @TearDown
        public void empty() {
            for (long block : ring) {
                LibcNative.free(block);
            }
        }
    }

    /** Buffers of Netty that a thread holds. */
    @State(Scope.Thread)
    @SuppressWarnings("NullAway.Init")
    public static class Buffers {
        private PooledByteBufAllocator allocator;
        private int bytes;
        private ByteBuf[] ring;
        private int oldest;

        /** Fills the ring. */
        @Setup
        public void fill(Size size, ThreadParams threads) {
            allocator = PooledByteBufAllocator.DEFAULT;
            bytes = size.pageBytes;
            ring = new ByteBuf[size.held(threads.getThreadCount())];
            for (int i = 0; i < ring.length; i++) {
                ring[i] = allocator.directBuffer(bytes, bytes);
            }
        }

        ByteBuf exchange() {
            int at = oldest;
            ring[at].release();
            ByteBuf buffer = allocator.directBuffer(bytes, bytes);
            ring[at] = buffer;
            oldest = at + 1 < ring.length ? at + 1 : 0;
            return buffer;
        }

        /** Releases the buffers. */
        @TearDown
        public void empty() {
            for (ByteBuf buffer : ring) {
                buffer.release();
            }
        }
    }
}
