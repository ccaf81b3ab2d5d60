package io.kvtier.jmh;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.OperationsPerInvocation;

/**
 * What a call of a C function costs from Java, and from C through a pointer. Both loop as often between two looks at the
 * clock. Unless it is critical, a call ends with a fence of the processor; where the JVM may use membarrier(2) instead,
 * there is none.
 */
public class FfmCallBenchmark {
    static final int CALLS = 1000;

    private static final String UNLOCK = "-XX:+UnlockExperimentalVMOptions";
    private static final String MEMBARRIER = "-XX:+UseSystemMemoryBarrier";

    @Benchmark
    @OperationsPerInvocation(CALLS)
    public void nothing() {
        for (int i = 0; i < CALLS; i++) {
            FfmCallNative.nothing();
        }
    }

    @Benchmark
    @OperationsPerInvocation(CALLS)
    @Fork(jvmArgsAppend = {UNLOCK, MEMBARRIER})
    public void nothingMembarrier() {
        nothing();
    }

    @Benchmark
    @OperationsPerInvocation(CALLS)
    public void nothingCritical() {
        for (int i = 0; i < CALLS; i++) {
            FfmCallNative.nothingCritical();
        }
    }

    @Benchmark
    @OperationsPerInvocation(CALLS)
    public void nothingErrno() {
        for (int i = 0; i < CALLS; i++) {
            FfmCallNative.nothingErrno();
        }
    }

    @Benchmark
    @OperationsPerInvocation(CALLS)
    public long nothingInC() {
        return FfmCallNative.nothingInC(CALLS);
    }

    @Benchmark
    @OperationsPerInvocation(CALLS)
    public long five() {
        long sum = 0;
        for (int i = 0; i < CALLS; i++) {
            sum += FfmCallNative.five(i, 2, 3, 4, 5);
        }
        return sum;
    }

    @Benchmark
    @OperationsPerInvocation(CALLS)
    @Fork(jvmArgsAppend = {UNLOCK, MEMBARRIER})
    public long fiveMembarrier() {
        return five();
    }

    @Benchmark
    @OperationsPerInvocation(CALLS)
    public long fiveCritical() {
        long sum = 0;
        for (int i = 0; i < CALLS; i++) {
            sum += FfmCallNative.fiveCritical(i, 2, 3, 4, 5);
        }
        return sum;
    }

    @Benchmark
    @OperationsPerInvocation(CALLS)
    public long fiveGenerated() {
        long sum = 0;
        for (int i = 0; i < CALLS; i++) {
            sum += FfmCallNative.fiveGenerated(i, 2, 3, 4, 5);
        }
        return sum;
    }

    @Benchmark
    @OperationsPerInvocation(CALLS)
    public long fiveInC() {
        return FfmCallNative.fiveInC(CALLS);
    }
}
