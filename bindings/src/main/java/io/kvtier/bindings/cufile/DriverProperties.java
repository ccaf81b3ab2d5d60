package io.kvtier.bindings.cufile;

import io.kvtier.bindings.cufile.generated.CUfileDrvProps;
import io.kvtier.bindings.cufile.generated.CuFileApi;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

/**
 * What an open driver says of itself.
 *
 * @param nvfsMajor major version of the kernel module nvidia-fs; 0 without it
 * @param nvfsMinor minor version of the kernel module nvidia-fs
 * @param pollThresholdBytes up to which size I/O polls, if it does
 * @param maxDirectIoBytes how much one request to the kernel moves at most
 * @param statusFlags what is served directly, as bits; {@link #storage} names those that are known
 * @param pollMode whether small I/O polls
 * @param allowsCompatMode whether I/O may go through the host where the direct way is barred
 * @param featureFlags what the driver can do, as bits; {@link #features} names those that are known
 * @param maxDeviceCacheBytes how much device memory the driver's own buffers may take
 * @param perBufferCacheBytes size of one of these buffers
 * @param maxPinnedBytes how much device memory may be registered
 * @param maxBatchOperations how many operations a batch holds at most
 * @param batchTimeout how long a batch is waited for by the driver itself
 */
public record DriverProperties(
        int nvfsMajor,
        int nvfsMinor,
        long pollThresholdBytes,
        long maxDirectIoBytes,
        int statusFlags,
        boolean pollMode,
        boolean allowsCompatMode,
        int featureFlags,
        long maxDeviceCacheBytes,
        long perBufferCacheBytes,
        long maxPinnedBytes,
        int maxBatchOperations,
        Duration batchTimeout) {
    private static final long KIB = 1024;

    /** Kinds of storage that a driver may serve directly. */
    public enum Storage {
        /** Lustre. */
        LUSTRE(CuFileApi.CU_FILE_LUSTRE_SUPPORTED()),
        /** WekaFS. */
        WEKAFS(CuFileApi.CU_FILE_WEKAFS_SUPPORTED()),
        /** NFS over RDMA. */
        NFS(CuFileApi.CU_FILE_NFS_SUPPORTED()),
        /** GPFS, now Storage Scale. */
        GPFS(CuFileApi.CU_FILE_GPFS_SUPPORTED()),
        /** NVMe disks. */
        NVME(CuFileApi.CU_FILE_NVME_SUPPORTED()),
        /** NVMe over fabrics. */
        NVMEOF(CuFileApi.CU_FILE_NVMEOF_SUPPORTED()),
        /** SCSI disks. */
        SCSI(CuFileApi.CU_FILE_SCSI_SUPPORTED());

        private final int bit;

        Storage(int bit) {
            this.bit = bit;
        }
    }

    /** What a driver may be able to do. */
    public enum Feature {
        /** Routes around links that devices cannot use directly. */
        DYNAMIC_ROUTING(CuFileApi.CU_FILE_DYN_ROUTING_SUPPORTED()),
        /** Batches. */
        BATCH_IO(CuFileApi.CU_FILE_BATCH_IO_SUPPORTED()),
        /** I/O in the order of a stream. */
        STREAMS(CuFileApi.CU_FILE_STREAMS_SUPPORTED()),
        /** Large I/O in parts, at the same time. */
        PARALLEL_IO(CuFileApi.CU_FILE_PARALLEL_IO_SUPPORTED());

        private final int bit;

        Feature(int bit) {
            this.bit = bit;
        }
    }

    /** Returns what is served directly, as far as it is known here. */
    public Set<Storage> storage() {
        Set<Storage> set = EnumSet.allOf(Storage.class);
        set.removeIf(storage -> !has(statusFlags, storage.bit));
        return set;
    }

    /** Returns what the driver can do, as far as it is known here. */
    public Set<Feature> features() {
        Set<Feature> set = EnumSet.allOf(Feature.class);
        set.removeIf(feature -> !has(featureFlags, feature.bit));
        return set;
    }

    static DriverProperties of(MemorySegment properties) {
        MemorySegment nvfs = CUfileDrvProps.nvfs(properties);
        int control = CUfileDrvProps.CUfileDrvProps_nvfs.dcontrolflags(nvfs);
        return new DriverProperties(
                CUfileDrvProps.CUfileDrvProps_nvfs.major_version(nvfs),
                CUfileDrvProps.CUfileDrvProps_nvfs.minor_version(nvfs),
                CUfileDrvProps.CUfileDrvProps_nvfs.poll_thresh_size(nvfs) * KIB,
                CUfileDrvProps.CUfileDrvProps_nvfs.max_direct_io_size(nvfs) * KIB,
                CUfileDrvProps.CUfileDrvProps_nvfs.dstatusflags(nvfs),
                has(control, CuFileApi.CU_FILE_USE_POLL_MODE()),
                has(control, CuFileApi.CU_FILE_ALLOW_COMPAT_MODE()),
                CUfileDrvProps.fflags(properties),
                bytes(CUfileDrvProps.max_device_cache_size(properties)),
                bytes(CUfileDrvProps.per_buffer_cache_size(properties)),
                bytes(CUfileDrvProps.max_device_pinned_mem_size(properties)),
                CUfileDrvProps.max_batch_io_size(properties),
                Duration.ofMillis(Integer.toUnsignedLong(CUfileDrvProps.max_batch_io_timeout_msecs(properties))));
    }

    private static long bytes(int kib) {
        return Integer.toUnsignedLong(kib) * KIB;
    }

    private static boolean has(int flags, int bit) {
        return (flags & 1 << bit) != 0;
    }
}
