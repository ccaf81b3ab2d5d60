package io.kvtier.bindings.cufile;

import io.kvtier.bindings.cufile.generated.CUfileOpCounter;
import io.kvtier.bindings.cufile.generated.CUfileStatsLevel1;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.time.temporal.ChronoUnit;

/**
 * What cuFile has counted in this process since {@link Driver#startStatistics}, by whomever it was called.
 *
 * @param reads reads that succeeded, batches left out
 * @param failedReads reads that failed
 * @param writes writes that succeeded, batches left out
 * @param failedWrites writes that failed
 * @param readBytes bytes that these reads were asked for, whether the file had so many or not
 * @param writeBytes bytes that these writes were asked for
 * @param readTime time that these reads took together
 * @param writeTime time that these writes took together
 * @param batchReadBytes bytes that batches read
 * @param batchWriteBytes bytes that batches wrote
 */
public record Statistics(
        long reads,
        long failedReads,
        long writes,
        long failedWrites,
        long readBytes,
        long writeBytes,
        Duration readTime,
        Duration writeTime,
        long batchReadBytes,
        long batchWriteBytes) {
    static Statistics of(MemorySegment counts) {
        MemorySegment reads = CUfileStatsLevel1.read_ops(counts);
        MemorySegment writes = CUfileStatsLevel1.write_ops(counts);
        return new Statistics(
                CUfileOpCounter.ok(reads),
                CUfileOpCounter.err(reads),
                CUfileOpCounter.ok(writes),
                CUfileOpCounter.err(writes),
                CUfileStatsLevel1.read_bytes(counts),
                CUfileStatsLevel1.write_bytes(counts),
                Duration.of(CUfileStatsLevel1.read_lat_sum_us(counts), ChronoUnit.MICROS),
                Duration.of(CUfileStatsLevel1.write_lat_sum_us(counts), ChronoUnit.MICROS),
                CUfileStatsLevel1.batch_read_bytes(counts),
                CUfileStatsLevel1.batch_write_bytes(counts));
    }
}
