/*
 * The few calls of Linux's C library that Java lacks, with their constants. 64-bit Linux only; what differs between x86-64 and
 * AArch64 is here once for each, with the architecture as a suffix, and the caller picks by os.arch.
 *
 * open, ioctl and syscall take a variable list in C. They are declared with the parameters that we pass, which is the same
 * call on both architectures; a handle for them must still name the first variable parameter (Linker.Option.firstVariadicArg:
 * 2, 2 and 1), since other systems pass it elsewhere. All but strerror, getenv and free report through errno, which a handle
 * must capture (Linker.Option.captureCallState): take the descriptor from the generated class, never its call.
 */
#ifndef KVTIER_POSIX_H
#define KVTIER_POSIX_H

typedef unsigned long size_t;
typedef long ssize_t;
typedef long off_t;
typedef unsigned int mode_t;

/* ---- errno ---- */

#define EPERM 1
#define ENOENT 2
#define EINTR 4
#define EIO 5
#define ENXIO 6
#define EBADF 9
#define EAGAIN 11
#define ENOMEM 12
#define EACCES 13
#define EFAULT 14
#define EBUSY 16
#define EEXIST 17
#define EXDEV 18
#define ENODEV 19
#define ENOTDIR 20
#define EISDIR 21
#define EINVAL 22
#define ENFILE 23
#define EMFILE 24
#define ENOTTY 25
#define EFBIG 27
#define ENOSPC 28
#define ESPIPE 29
#define EROFS 30
#define ENAMETOOLONG 36
#define ENOSYS 38
#define ENOTEMPTY 39
#define ELOOP 40
#define ENODATA 61
#define ETIME 62
#define EOVERFLOW 75
#define EOPNOTSUPP 95
#define EALREADY 114
#define ESTALE 116
#define EDQUOT 122
#define ECANCELED 125

char *strerror(int error);

/* ---- memory; mmap answers failure with an address of all ones ---- */

#define PROT_NONE 0
#define PROT_READ 1
#define PROT_WRITE 2

#define MAP_SHARED 0x01
#define MAP_PRIVATE 0x02
#define MAP_SHARED_VALIDATE 0x03
#define MAP_ANONYMOUS 0x20
#define MAP_LOCKED 0x2000
#define MAP_NORESERVE 0x4000
#define MAP_POPULATE 0x8000
#define MAP_HUGETLB 0x40000
#define MAP_HUGE_SHIFT 26

#define MADV_NORMAL 0
#define MADV_RANDOM 1
#define MADV_SEQUENTIAL 2
#define MADV_WILLNEED 3
#define MADV_DONTNEED 4
#define MADV_DONTFORK 10
#define MADV_HUGEPAGE 14
#define MADV_NOHUGEPAGE 15
#define MADV_DONTDUMP 16
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset);
int munmap(void *address, size_t size);
int madvise(void *address, size_t size, int advice);
int mlock(const void *address, size_t size);
int munlock(const void *address, size_t size);
void free(void *pointer);

/* Before glibc 2.34 these two are in librt. */
int shm_open(const char *name, int flags, mode_t mode);
int shm_unlink(const char *name);

/* ---- files ---- */

#define O_RDONLY 0
#define O_WRONLY 1
#define O_RDWR 2
#define O_CREAT 0100
#define O_EXCL 0200
#define O_TRUNC 01000
#define O_DSYNC 010000
#define O_NOATIME 01000000
#define O_CLOEXEC 02000000
#define O_DIRECT_x86_64 040000
#define O_DIRECT_aarch64 0200000

#define FALLOC_FL_KEEP_SIZE 1
#define FALLOC_FL_PUNCH_HOLE 2
#define FALLOC_FL_ZERO_RANGE 16

struct iovec {
  void *iov_base;
  size_t iov_len;
};

int open(const char *path, int flags, mode_t mode);
int close(int fd);
ssize_t pread(int fd, void *buffer, size_t size, off_t offset);
ssize_t pwrite(int fd, const void *buffer, size_t size, off_t offset);
ssize_t preadv(int fd, const struct iovec *vectors, int count, off_t offset);
ssize_t pwritev(int fd, const struct iovec *vectors, int count, off_t offset);
int fallocate(int fd, int mode, off_t offset, off_t size);
int ftruncate(int fd, off_t size);
int fsync(int fd);
int fdatasync(int fd);

#define SEEK_END 2
#define SEEK_DATA 3
#define SEEK_HOLE 4

off_t lseek(int fd, off_t offset, int whence);

#define POSIX_FADV_NORMAL 0
#define POSIX_FADV_RANDOM 1
#define POSIX_FADV_SEQUENTIAL 2
#define POSIX_FADV_WILLNEED 3
#define POSIX_FADV_DONTNEED 4

/* Answers with the error itself, not through errno. */
int posix_fadvise(int fd, off_t offset, off_t size, int advice);

/* The size of a device's logical block, and of a device, in bytes. */
#define BLKSSZGET 0x1268
#define BLKPBSZGET 0x127b
#define BLKGETSIZE64 0x80081272UL

int ioctl(int fd, unsigned long request, void *argument);

#define TMPFS_MAGIC 0x01021994L
#define HUGETLBFS_MAGIC 0x958458f6L
#define EXT4_SUPER_MAGIC 0xef53L
#define XFS_SUPER_MAGIC 0x58465342L
#define BTRFS_SUPER_MAGIC 0x9123683eL
#define OVERLAYFS_SUPER_MAGIC 0x794c7630L
#define NFS_SUPER_MAGIC 0x6969L
#define FUSE_SUPER_MAGIC 0x65735546L

struct statfs {
  long f_type;
  long f_bsize;
  unsigned long f_blocks;
  unsigned long f_bfree;
  unsigned long f_bavail;
  unsigned long f_files;
  unsigned long f_ffree;
  int f_fsid[2];
  long f_namelen;
  long f_frsize;
  long f_flags;
  long reserved[4];
};

int statfs(const char *path, struct statfs *answer);

/* ---- process and system ---- */

#define RLIMIT_NOFILE 7
#define RLIMIT_MEMLOCK 8
#define RLIM_INFINITY (-1L)

struct rlimit {
  unsigned long rlim_cur;
  unsigned long rlim_max;
};

#define _SC_PAGESIZE 30
#define _SC_IOV_MAX 60
#define _SC_NPROCESSORS_ONLN 84
#define _SC_PHYS_PAGES 85
#define _SC_AVPHYS_PAGES 86

int getrlimit(int resource, struct rlimit *limit);
long sysconf(int name);
char *getenv(const char *name);
int setenv(const char *name, const char *value, int overwrite);

/* ---- system calls without a function in the C library: pass 0 for parameters that the call has not ---- */

#define SYS_io_uring_setup 425
#define SYS_io_uring_enter 426
#define SYS_io_uring_register 427
#define SYS_mbind_x86_64 237
#define SYS_mbind_aarch64 235
#define SYS_get_mempolicy_x86_64 239
#define SYS_get_mempolicy_aarch64 236

long syscall(long number, long a, long b, long c, long d, long e, long f);

/* mbind(address, size, mode, nodes, bits of nodes + 1, flags); get_mempolicy(mode, nodes, bits + 1, address, flags) */
#define MPOL_DEFAULT 0
#define MPOL_PREFERRED 1
#define MPOL_BIND 2
#define MPOL_INTERLEAVE 3
#define MPOL_LOCAL 4
#define MPOL_MF_STRICT 1
#define MPOL_MF_MOVE 2
#define MPOL_F_NODE 1
#define MPOL_F_ADDR 2
#define MPOL_F_MEMS_ALLOWED 4

/*
 * io_uring_setup(entries, params); io_uring_enter(fd, to submit, wanted, flags, argument, its size);
 * io_uring_register(fd, what, argument, count)
 */
#define IORING_SETUP_IOPOLL 0x1
#define IORING_SETUP_SQPOLL 0x2
#define IORING_SETUP_CQSIZE 0x8
#define IORING_SETUP_CLAMP 0x10
#define IORING_SETUP_SUBMIT_ALL 0x80
#define IORING_SETUP_COOP_TASKRUN 0x100
#define IORING_SETUP_SINGLE_ISSUER 0x1000
#define IORING_SETUP_DEFER_TASKRUN 0x2000

#define IORING_FEAT_SINGLE_MMAP 0x1
#define IORING_FEAT_NODROP 0x2
#define IORING_FEAT_SUBMIT_STABLE 0x4
#define IORING_FEAT_EXT_ARG 0x100

#define IORING_ENTER_GETEVENTS 0x1
#define IORING_ENTER_SQ_WAKEUP 0x2
#define IORING_ENTER_EXT_ARG 0x8

#define IORING_OFF_SQ_RING 0UL
#define IORING_OFF_CQ_RING 0x8000000UL
#define IORING_OFF_SQES 0x10000000UL

#define IORING_SQ_NEED_WAKEUP 0x1
#define IORING_SQ_CQ_OVERFLOW 0x2
#define IORING_CQE_F_MORE 0x2

#define IOSQE_FIXED_FILE 0x1
#define IOSQE_IO_DRAIN 0x2
#define IOSQE_IO_LINK 0x4
#define IOSQE_IO_HARDLINK 0x8
#define IOSQE_ASYNC 0x10

#define IORING_FSYNC_DATASYNC 0x1
#define IORING_ASYNC_CANCEL_ALL 0x1
#define IORING_ASYNC_CANCEL_ANY 0x4

#define IO_URING_OP_SUPPORTED 0x1

enum kvtier_io_uring_op {
  IORING_OP_NOP = 0,
  IORING_OP_READV = 1,
  IORING_OP_WRITEV = 2,
  IORING_OP_FSYNC = 3,
  IORING_OP_READ_FIXED = 4,
  IORING_OP_WRITE_FIXED = 5,
  IORING_OP_TIMEOUT = 11,
  IORING_OP_ASYNC_CANCEL = 14,
  IORING_OP_LINK_TIMEOUT = 15,
  IORING_OP_FALLOCATE = 17,
  IORING_OP_CLOSE = 19,
  IORING_OP_READ = 22,
  IORING_OP_WRITE = 23
};

enum kvtier_io_uring_register {
  IORING_REGISTER_BUFFERS = 0,
  IORING_UNREGISTER_BUFFERS = 1,
  IORING_REGISTER_FILES = 2,
  IORING_UNREGISTER_FILES = 3,
  IORING_REGISTER_PROBE = 8,
  IORING_REGISTER_IOWQ_MAX_WORKERS = 19
};

struct io_sqring_offsets {
  unsigned int head;
  unsigned int tail;
  unsigned int ring_mask;
  unsigned int ring_entries;
  unsigned int flags;
  unsigned int dropped;
  unsigned int array;
  unsigned int reserved_28;
  unsigned long reserved_32;
};

struct io_cqring_offsets {
  unsigned int head;
  unsigned int tail;
  unsigned int ring_mask;
  unsigned int ring_entries;
  unsigned int overflow;
  unsigned int cqes;
  unsigned int flags;
  unsigned int reserved_28;
  unsigned long reserved_32;
};

struct io_uring_params {
  unsigned int sq_entries;
  unsigned int cq_entries;
  unsigned int flags;
  unsigned int sq_thread_cpu;
  unsigned int sq_thread_idle;
  unsigned int features;
  unsigned int wq_fd;
  unsigned int reserved_28[3];
  struct io_sqring_offsets sq_off;
  struct io_cqring_offsets cq_off;
};

/* Where the kernel has unions, the member that reading, writing and syncing use; rw_flags serves every operation. */
struct io_uring_sqe {
  unsigned char opcode;
  unsigned char flags;
  unsigned short ioprio;
  int fd;
  unsigned long off;
  unsigned long addr;
  unsigned int len;
  unsigned int rw_flags;
  unsigned long user_data;
  unsigned short buf_index;
  unsigned short personality;
  int splice_fd_in;
  unsigned long addr3;
  unsigned long reserved_56;
};

struct io_uring_cqe {
  unsigned long user_data;
  int res;
  unsigned int flags;
};

/* How long io_uring_enter waits, with IORING_ENTER_EXT_ARG; ts is the address of the time. */
struct io_uring_getevents_arg {
  unsigned long sigmask;
  unsigned int sigmask_sz;
  unsigned int reserved_12;
  unsigned long ts;
};

struct __kernel_timespec {
  long tv_sec;
  long tv_nsec;
};

/* The answer to IORING_REGISTER_PROBE: ops_len operations follow it. */
struct io_uring_probe {
  unsigned char last_op;
  unsigned char ops_len;
  unsigned short reserved_2;
  unsigned int reserved_4[3];
};

struct io_uring_probe_op {
  unsigned char op;
  unsigned char reserved_1;
  unsigned short flags;
  unsigned int reserved_4;
};

#endif
