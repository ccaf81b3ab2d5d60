/* The part of cuFile that kvtier calls. */
#ifndef KVTIER_CUFILE_H
#define KVTIER_CUFILE_H

typedef unsigned long size_t;
typedef long ssize_t;
typedef long off_t;
typedef long loff_t;

struct sockaddr;
typedef struct sockaddr sockaddr_t;
struct timespec {
  long tv_sec;
  long tv_nsec;
};

/* A CUDA stream, as the runtime calls it cudaStream_t. */
typedef struct CUstream_st *CUstream;

/* ---- status ---- */

/* Those after 5038 came with cuFile 1.15. */
typedef enum CUfileOpError {
  CU_FILE_SUCCESS = 0,
  CU_FILE_DRIVER_NOT_INITIALIZED = 5001,
  CU_FILE_DRIVER_INVALID_PROPS = 5002,
  CU_FILE_DRIVER_UNSUPPORTED_LIMIT = 5003,
  CU_FILE_DRIVER_VERSION_MISMATCH = 5004,
  CU_FILE_DRIVER_VERSION_READ_ERROR = 5005,
  CU_FILE_DRIVER_CLOSING = 5006,
  CU_FILE_PLATFORM_NOT_SUPPORTED = 5007,
  CU_FILE_IO_NOT_SUPPORTED = 5008,
  CU_FILE_DEVICE_NOT_SUPPORTED = 5009,
  CU_FILE_NVFS_DRIVER_ERROR = 5010,
  CU_FILE_CUDA_DRIVER_ERROR = 5011,
  CU_FILE_CUDA_POINTER_INVALID = 5012,
  CU_FILE_CUDA_MEMORY_TYPE_INVALID = 5013,
  CU_FILE_CUDA_POINTER_RANGE_ERROR = 5014,
  CU_FILE_CUDA_CONTEXT_MISMATCH = 5015,
  CU_FILE_INVALID_MAPPING_SIZE = 5016,
  CU_FILE_INVALID_MAPPING_RANGE = 5017,
  CU_FILE_INVALID_FILE_TYPE = 5018,
  CU_FILE_INVALID_FILE_OPEN_FLAG = 5019,
  CU_FILE_DIO_NOT_SET = 5020,
  CU_FILE_INVALID_VALUE = 5022,
  CU_FILE_MEMORY_ALREADY_REGISTERED = 5023,
  CU_FILE_MEMORY_NOT_REGISTERED = 5024,
  CU_FILE_PERMISSION_DENIED = 5025,
  CU_FILE_DRIVER_ALREADY_OPEN = 5026,
  CU_FILE_HANDLE_NOT_REGISTERED = 5027,
  CU_FILE_HANDLE_ALREADY_REGISTERED = 5028,
  CU_FILE_DEVICE_NOT_FOUND = 5029,
  CU_FILE_INTERNAL_ERROR = 5030,
  CU_FILE_GETNEWFD_FAILED = 5031,
  CU_FILE_NVFS_SETUP_ERROR = 5033,
  CU_FILE_IO_DISABLED = 5034,
  CU_FILE_BATCH_SUBMIT_FAILED = 5035,
  CU_FILE_GPU_MEMORY_PINNING_FAILED = 5036,
  CU_FILE_BATCH_FULL = 5037,
  CU_FILE_ASYNC_NOT_SUPPORTED = 5038,
  CU_FILE_INTERNAL_BATCH_SETUP_ERROR = 5039,
  CU_FILE_INTERNAL_BATCH_SUBMIT_ERROR = 5040,
  CU_FILE_INTERNAL_BATCH_GETSTATUS_ERROR = 5041,
  CU_FILE_INTERNAL_BATCH_CANCEL_ERROR = 5042,
  CU_FILE_NOMEM_ERROR = 5043,
  CU_FILE_IO_ERROR = 5044,
  CU_FILE_INTERNAL_BUF_REGISTER_ERROR = 5045,
  CU_FILE_HASH_OPR_ERROR = 5046,
  CU_FILE_INVALID_CONTEXT_ERROR = 5047,
  CU_FILE_NVFS_INTERNAL_DRIVER_ERROR = 5048,
  CU_FILE_BATCH_NOCOMPAT_ERROR = 5049
} CUfileOpError;

/* Returned by value. The second code is the CUDA driver's, of interest with CU_FILE_CUDA_DRIVER_ERROR. */
typedef struct CUfileError {
  CUfileOpError err;
  int cu_err;
} CUfileError_t;

/* ---- driver ---- */

typedef enum CUfileDriverStatusFlags {
  CU_FILE_LUSTRE_SUPPORTED = 0,
  CU_FILE_WEKAFS_SUPPORTED = 1,
  CU_FILE_NFS_SUPPORTED = 2,
  CU_FILE_GPFS_SUPPORTED = 3,
  CU_FILE_NVME_SUPPORTED = 4,
  CU_FILE_NVMEOF_SUPPORTED = 5,
  CU_FILE_SCSI_SUPPORTED = 6
} CUfileDriverStatusFlags_t;

typedef enum CUfileDriverControlFlags { CU_FILE_USE_POLL_MODE = 0, CU_FILE_ALLOW_COMPAT_MODE = 1 } CUfileDriverControlFlags_t;

typedef enum CUfileFeatureFlags {
  CU_FILE_DYN_ROUTING_SUPPORTED = 0,
  CU_FILE_BATCH_IO_SUPPORTED = 1,
  CU_FILE_STREAMS_SUPPORTED = 2,
  CU_FILE_PARALLEL_IO_SUPPORTED = 3
} CUfileFeatureFlags_t;

/* The flags are bit sets: the enumerations above number the bits. Sizes are in KiB. */
typedef struct CUfileDrvProps {
  struct CUfileDrvProps_nvfs {
    unsigned int major_version;
    unsigned int minor_version;
    size_t poll_thresh_size;
    size_t max_direct_io_size;
    unsigned int dstatusflags;
    unsigned int dcontrolflags;
  } nvfs;
  unsigned int fflags;
  unsigned int max_device_cache_size;
  unsigned int per_buffer_cache_size;
  unsigned int max_device_pinned_mem_size;
  unsigned int max_batch_io_size;
  unsigned int max_batch_io_timeout_msecs;
} CUfileDrvProps_t;

CUfileError_t cuFileDriverOpen(void);
/* The second one where the library has it, else the first. */
CUfileError_t cuFileDriverClose(void);
CUfileError_t cuFileDriverClose_v2(void);
long cuFileUseCount(void);
CUfileError_t cuFileDriverGetProperties(CUfileDrvProps_t *properties);
CUfileError_t cuFileDriverSetPollMode(_Bool poll, size_t threshold);
CUfileError_t cuFileDriverSetMaxDirectIOSize(size_t size);
CUfileError_t cuFileDriverSetMaxCacheSize(size_t size);
CUfileError_t cuFileDriverSetMaxPinnedMemSize(size_t size);
CUfileError_t cuFileGetVersion(int *version);

/* ---- parameters, to be set before the driver is opened ---- */

typedef enum CUFileSizeTConfigParameter_t {
  CUFILE_PARAM_PROFILE_STATS = 0,
  CUFILE_PARAM_EXECUTION_MAX_IO_QUEUE_DEPTH = 1,
  CUFILE_PARAM_EXECUTION_MAX_IO_THREADS = 2,
  CUFILE_PARAM_EXECUTION_MIN_IO_THRESHOLD_SIZE_KB = 3,
  CUFILE_PARAM_EXECUTION_MAX_REQUEST_PARALLELISM = 4,
  CUFILE_PARAM_PROPERTIES_MAX_DIRECT_IO_SIZE_KB = 5,
  CUFILE_PARAM_PROPERTIES_MAX_DEVICE_CACHE_SIZE_KB = 6,
  CUFILE_PARAM_PROPERTIES_PER_BUFFER_CACHE_SIZE_KB = 7,
  CUFILE_PARAM_PROPERTIES_MAX_DEVICE_PINNED_MEM_SIZE_KB = 8,
  CUFILE_PARAM_PROPERTIES_IO_BATCHSIZE = 9,
  CUFILE_PARAM_POLLTHRESHOLD_SIZE_KB = 10,
  CUFILE_PARAM_PROPERTIES_BATCH_IO_TIMEOUT_MS = 11
} CUFileSizeTConfigParameter_t;

typedef enum CUFileBoolConfigParameter_t {
  CUFILE_PARAM_PROPERTIES_USE_POLL_MODE = 0,
  CUFILE_PARAM_PROPERTIES_ALLOW_COMPAT_MODE = 1,
  CUFILE_PARAM_FORCE_COMPAT_MODE = 2,
  CUFILE_PARAM_FS_MISC_API_CHECK_AGGRESSIVE = 3,
  CUFILE_PARAM_EXECUTION_PARALLEL_IO = 4,
  CUFILE_PARAM_PROPERTIES_ALLOW_SYSTEM_MEMORY = 6,
  CUFILE_PARAM_USE_PCIP2PDMA = 7,
  CUFILE_PARAM_PREFER_IO_URING = 8,
  CUFILE_PARAM_FORCE_ODIRECT_MODE = 9,
  CUFILE_PARAM_SKIP_TOPOLOGY_DETECTION = 10,
  CUFILE_PARAM_STREAM_MEMOPS_BYPASS = 11
} CUFileBoolConfigParameter_t;

typedef enum CUFileStringConfigParameter_t {
  CUFILE_PARAM_LOGGING_LEVEL = 0,
  CUFILE_PARAM_ENV_LOGFILE_PATH = 1,
  CUFILE_PARAM_LOG_DIR = 2
} CUFileStringConfigParameter_t;

CUfileError_t cuFileGetParameterSizeT(CUFileSizeTConfigParameter_t parameter, size_t *value);
CUfileError_t cuFileGetParameterBool(CUFileBoolConfigParameter_t parameter, _Bool *value);
CUfileError_t cuFileGetParameterString(CUFileStringConfigParameter_t parameter, char *value, int length);
CUfileError_t cuFileSetParameterSizeT(CUFileSizeTConfigParameter_t parameter, size_t value);
CUfileError_t cuFileSetParameterBool(CUFileBoolConfigParameter_t parameter, _Bool value);
CUfileError_t cuFileSetParameterString(CUFileStringConfigParameter_t parameter, const char *value);

/* ---- statistics, since CUDA 13: counted while the level is not 0 and the driver is open ---- */

typedef struct CUfileOpCounter {
  unsigned long ok;
  unsigned long err;
} CUfileOpCounter_t;

/* Levels 2 and 3 tell more, in larger structures. This one grew, so there is room for more; bytes are those asked for. */
typedef struct CUfileStatsLevel1 {
  struct CUfileOpCounter read_ops;
  struct CUfileOpCounter write_ops;
  char reserved_32[64];
  unsigned long read_bytes;
  unsigned long write_bytes;
  char reserved_112[48];
  unsigned long read_lat_sum_us;
  unsigned long write_lat_sum_us;
  char reserved_176[240];
  unsigned long batch_read_bytes;
  unsigned long batch_write_bytes;
  char reserved_432[1616];
} CUfileStatsLevel1_t;

CUfileError_t cuFileSetStatsLevel(int level);
CUfileError_t cuFileStatsStart(void);
CUfileError_t cuFileStatsStop(void);
CUfileError_t cuFileStatsReset(void);
CUfileError_t cuFileGetStatsL1(CUfileStatsLevel1_t *statistics);

/* ---- files ---- */

typedef void *CUfileHandle_t;

enum CUfileFileHandleType { CU_FILE_HANDLE_TYPE_OPAQUE_FD = 1, CU_FILE_HANDLE_TYPE_USERSPACE_FS = 3 };

typedef struct cufileRDMAInfo {
  int version;
  int desc_len;
  const char *desc_str;
} cufileRDMAInfo_t;

/* How a file system in user space is called; only its size matters here. */
typedef struct CUfileFSOps {
  void *fs_type;
  void *getRDMADeviceList;
  void *getRDMADevicePriority;
  void *read;
  void *write;
} CUfileFSOps_t;

typedef struct CUfileDescr_t {
  enum CUfileFileHandleType type;
  union CUfileDescr_handle {
    int fd;
    void *handle;
  } handle;
  const CUfileFSOps_t *fs_ops;
} CUfileDescr_t;

CUfileError_t cuFileHandleRegister(CUfileHandle_t *file, CUfileDescr_t *description);
void cuFileHandleDeregister(CUfileHandle_t file);

/* ---- buffers ---- */

#define CU_FILE_RDMA_REGISTER 1
#define CU_FILE_RDMA_RELAXED_ORDERING 2

CUfileError_t cuFileBufRegister(const void *base, size_t size, int flags);
CUfileError_t cuFileBufDeregister(const void *base);

/* ---- synchronous I/O: bytes moved (may be short), -1 with errno, or a negated CUfileOpError ---- */

typedef struct CUfileIOVec {
  void *base;
  size_t len;
} CUfileIOVec_t;

ssize_t cuFileRead(CUfileHandle_t file, void *base, size_t size, off_t file_offset, off_t base_offset);
ssize_t cuFileWrite(CUfileHandle_t file, const void *base, size_t size, off_t file_offset, off_t base_offset);
/* New with CUDA 13.4. */
ssize_t cuFileReadv(CUfileHandle_t file, const CUfileIOVec_t *vectors, size_t count, off_t file_offset, unsigned int flags);
ssize_t cuFileWritev(CUfileHandle_t file, const CUfileIOVec_t *vectors, size_t count, off_t file_offset, unsigned int flags);

/* ---- batches, since cuFile 1.7 ---- */

typedef void *CUfileBatchHandle_t;

typedef enum CUfileOpcode { CUFILE_READ = 0, CUFILE_WRITE = 1 } CUfileOpcode_t;

typedef enum CUFILEStatus_enum {
  CUFILE_WAITING = 1,
  CUFILE_PENDING = 2,
  CUFILE_INVALID = 4,
  CUFILE_CANCELED = 8,
  CUFILE_COMPLETE = 16,
  CUFILE_TIMEOUT = 32,
  CUFILE_FAILED = 64
} CUfileStatus_t;

typedef enum cufileBatchMode { CUFILE_BATCH = 1 } CUfileBatchMode_t;

typedef struct CUfileIOParams {
  CUfileBatchMode_t mode;
  union CUfileIOParams_u {
    struct CUfileIOParams_batch {
      void *devPtr_base;
      off_t file_offset;
      off_t devPtr_offset;
      size_t size;
    } batch;
  } u;
  CUfileHandle_t fh;
  CUfileOpcode_t opcode;
  void *cookie;
} CUfileIOParams_t;

/* A negative result arrives as a large unsigned one. */
typedef struct CUfileIOEvents {
  void *cookie;
  CUfileStatus_t status;
  size_t ret;
} CUfileIOEvents_t;

CUfileError_t cuFileBatchIOSetUp(CUfileBatchHandle_t *batch, unsigned int capacity);
CUfileError_t cuFileBatchIOSubmit(CUfileBatchHandle_t batch, unsigned int count, CUfileIOParams_t *operations, unsigned int flags);
CUfileError_t cuFileBatchIOGetStatus(
    CUfileBatchHandle_t batch, unsigned int least, unsigned int *count, CUfileIOEvents_t *events, struct timespec *timeout);
CUfileError_t cuFileBatchIOCancel(CUfileBatchHandle_t batch);
void cuFileBatchIODestroy(CUfileBatchHandle_t batch);

/* ---- I/O in the order of a stream, since cuFile 1.7: what the pointers hold may be read only when the stream gets there ---- */

#define CU_FILE_STREAM_FIXED_BUF_OFFSET 1
#define CU_FILE_STREAM_FIXED_FILE_OFFSET 2
#define CU_FILE_STREAM_FIXED_FILE_SIZE 4
#define CU_FILE_STREAM_PAGE_ALIGNED_INPUTS 8

CUfileError_t cuFileReadAsync(
    CUfileHandle_t file, void *base, size_t *size, off_t *file_offset, off_t *base_offset, ssize_t *moved, CUstream stream);
CUfileError_t cuFileWriteAsync(
    CUfileHandle_t file, void *base, size_t *size, off_t *file_offset, off_t *base_offset, ssize_t *moved, CUstream stream);
CUfileError_t cuFileStreamRegister(CUstream stream, unsigned int flags);
CUfileError_t cuFileStreamDeregister(CUstream stream);

#endif
