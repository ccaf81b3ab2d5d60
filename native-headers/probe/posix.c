/* Facts about the C library and the kernel: see probe.h. */
#ifdef PROBE_VENDOR
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/io_uring.h>
#include <linux/magic.h>
#include <linux/mempolicy.h>
#include <linux/mman.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>
#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif
#ifdef __x86_64__
#define O_DIRECT_x86_64 O_DIRECT
#define SYS_mbind_x86_64 SYS_mbind
#define SYS_get_mempolicy_x86_64 SYS_get_mempolicy
#else
#define O_DIRECT_aarch64 O_DIRECT
#define SYS_mbind_aarch64 SYS_mbind
#define SYS_get_mempolicy_aarch64 SYS_get_mempolicy
#endif
#else
#include "../posix.h"
#endif
#include "probe.h"

int main(void) {
  SIZE(iovec);
  FIELD(iovec, iov_base);
  FIELD(iovec, iov_len);
  SIZE(statfs);
  FIELD(statfs, f_type);
  FIELD(statfs, f_bsize);
  FIELD(statfs, f_blocks);
  FIELD(statfs, f_bfree);
  FIELD(statfs, f_bavail);
  FIELD(statfs, f_files);
  FIELD(statfs, f_ffree);
  FIELD(statfs, f_fsid);
  FIELD(statfs, f_namelen);
  FIELD(statfs, f_frsize);
  FIELD(statfs, f_flags);
  SIZE(rlimit);
  FIELD(rlimit, rlim_cur);
  FIELD(rlimit, rlim_max);
  SIZE(io_sqring_offsets);
  FIELD(io_sqring_offsets, head);
  FIELD(io_sqring_offsets, tail);
  FIELD(io_sqring_offsets, ring_mask);
  FIELD(io_sqring_offsets, ring_entries);
  FIELD(io_sqring_offsets, flags);
  FIELD(io_sqring_offsets, dropped);
  FIELD(io_sqring_offsets, array);
  SIZE(io_cqring_offsets);
  FIELD(io_cqring_offsets, head);
  FIELD(io_cqring_offsets, tail);
  FIELD(io_cqring_offsets, ring_mask);
  FIELD(io_cqring_offsets, ring_entries);
  FIELD(io_cqring_offsets, overflow);
  FIELD(io_cqring_offsets, cqes);
  FIELD(io_cqring_offsets, flags);
  SIZE(io_uring_params);
  FIELD(io_uring_params, sq_entries);
  FIELD(io_uring_params, cq_entries);
  FIELD(io_uring_params, flags);
  FIELD(io_uring_params, sq_thread_cpu);
  FIELD(io_uring_params, sq_thread_idle);
  FIELD(io_uring_params, features);
  FIELD(io_uring_params, wq_fd);
  FIELD(io_uring_params, sq_off);
  FIELD(io_uring_params, cq_off);
  SIZE(io_uring_sqe);
  FIELD(io_uring_sqe, opcode);
  FIELD(io_uring_sqe, flags);
  FIELD(io_uring_sqe, ioprio);
  FIELD(io_uring_sqe, fd);
  FIELD(io_uring_sqe, off);
  FIELD(io_uring_sqe, addr);
  FIELD(io_uring_sqe, len);
  FIELD(io_uring_sqe, rw_flags);
  FIELD(io_uring_sqe, user_data);
  FIELD(io_uring_sqe, buf_index);
  FIELD(io_uring_sqe, personality);
  FIELD(io_uring_sqe, splice_fd_in);
  FIELD(io_uring_sqe, addr3);
  SIZE(io_uring_cqe);
  FIELD(io_uring_cqe, user_data);
  FIELD(io_uring_cqe, res);
  FIELD(io_uring_cqe, flags);
  SIZE(io_uring_getevents_arg);
  FIELD(io_uring_getevents_arg, sigmask);
  FIELD(io_uring_getevents_arg, sigmask_sz);
  FIELD(io_uring_getevents_arg, ts);
  SIZE(__kernel_timespec);
  FIELD(__kernel_timespec, tv_sec);
  FIELD(__kernel_timespec, tv_nsec);
  SIZE(io_uring_probe);
  FIELD(io_uring_probe, last_op);
  FIELD(io_uring_probe, ops_len);
  SIZE(io_uring_probe_op);
  FIELD(io_uring_probe_op, op);
  FIELD(io_uring_probe_op, flags);

  VALUE(EPERM);
  VALUE(ENOENT);
  VALUE(EINTR);
  VALUE(EIO);
  VALUE(ENXIO);
  VALUE(EBADF);
  VALUE(EAGAIN);
  VALUE(ENOMEM);
  VALUE(EACCES);
  VALUE(EFAULT);
  VALUE(EBUSY);
  VALUE(EEXIST);
  VALUE(EXDEV);
  VALUE(ENODEV);
  VALUE(ENOTDIR);
  VALUE(EISDIR);
  VALUE(EINVAL);
  VALUE(ENFILE);
  VALUE(EMFILE);
  VALUE(ENOTTY);
  VALUE(EFBIG);
  VALUE(ENOSPC);
  VALUE(ESPIPE);
  VALUE(EROFS);
  VALUE(ENAMETOOLONG);
  VALUE(ENOSYS);
  VALUE(ENOTEMPTY);
  VALUE(ELOOP);
  VALUE(ENODATA);
  VALUE(ETIME);
  VALUE(EOVERFLOW);
  VALUE(EOPNOTSUPP);
  VALUE(EALREADY);
  VALUE(ESTALE);
  VALUE(EDQUOT);
  VALUE(ECANCELED);
  VALUE(PROT_NONE);
  VALUE(PROT_READ);
  VALUE(PROT_WRITE);
  VALUE(MAP_SHARED);
  VALUE(MAP_PRIVATE);
  VALUE(MAP_SHARED_VALIDATE);
  VALUE(MAP_ANONYMOUS);
  VALUE(MAP_LOCKED);
  VALUE(MAP_NORESERVE);
  VALUE(MAP_POPULATE);
  VALUE(MAP_HUGETLB);
  VALUE(MAP_HUGE_SHIFT);
  VALUE(MADV_NORMAL);
  VALUE(MADV_RANDOM);
  VALUE(MADV_SEQUENTIAL);
  VALUE(MADV_WILLNEED);
  VALUE(MADV_DONTNEED);
  VALUE(MADV_DONTFORK);
  VALUE(MADV_HUGEPAGE);
  VALUE(MADV_NOHUGEPAGE);
  VALUE(MADV_DONTDUMP);
  VALUE(MADV_POPULATE_READ);
  VALUE(MADV_POPULATE_WRITE);
  VALUE(O_RDONLY);
  VALUE(O_WRONLY);
  VALUE(O_RDWR);
  VALUE(O_CREAT);
  VALUE(O_EXCL);
  VALUE(O_TRUNC);
  VALUE(O_DSYNC);
  VALUE(O_NOATIME);
  VALUE(O_CLOEXEC);
  VALUE(FALLOC_FL_KEEP_SIZE);
  VALUE(FALLOC_FL_PUNCH_HOLE);
  VALUE(FALLOC_FL_ZERO_RANGE);
  VALUE(SEEK_END);
  VALUE(SEEK_DATA);
  VALUE(SEEK_HOLE);
  VALUE(POSIX_FADV_NORMAL);
  VALUE(POSIX_FADV_RANDOM);
  VALUE(POSIX_FADV_SEQUENTIAL);
  VALUE(POSIX_FADV_WILLNEED);
  VALUE(POSIX_FADV_DONTNEED);
  VALUE(BLKSSZGET);
  VALUE(BLKPBSZGET);
  VALUE(BLKGETSIZE64);
  VALUE(TMPFS_MAGIC);
  VALUE(HUGETLBFS_MAGIC);
  VALUE(EXT4_SUPER_MAGIC);
  VALUE(XFS_SUPER_MAGIC);
  VALUE(BTRFS_SUPER_MAGIC);
  VALUE(OVERLAYFS_SUPER_MAGIC);
  VALUE(NFS_SUPER_MAGIC);
  VALUE(FUSE_SUPER_MAGIC);
  VALUE(RLIMIT_NOFILE);
  VALUE(RLIMIT_MEMLOCK);
  VALUE(RLIM_INFINITY);
  VALUE(_SC_PAGESIZE);
  VALUE(_SC_IOV_MAX);
  VALUE(_SC_NPROCESSORS_ONLN);
  VALUE(_SC_PHYS_PAGES);
  VALUE(_SC_AVPHYS_PAGES);
  VALUE(SYS_io_uring_setup);
  VALUE(SYS_io_uring_enter);
  VALUE(SYS_io_uring_register);
  VALUE(MPOL_DEFAULT);
  VALUE(MPOL_PREFERRED);
  VALUE(MPOL_BIND);
  VALUE(MPOL_INTERLEAVE);
  VALUE(MPOL_LOCAL);
  VALUE(MPOL_MF_STRICT);
  VALUE(MPOL_MF_MOVE);
  VALUE(MPOL_F_NODE);
  VALUE(MPOL_F_ADDR);
  VALUE(MPOL_F_MEMS_ALLOWED);
  VALUE(IORING_SETUP_IOPOLL);
  VALUE(IORING_SETUP_SQPOLL);
  VALUE(IORING_SETUP_CQSIZE);
  VALUE(IORING_SETUP_CLAMP);
  VALUE(IORING_SETUP_SUBMIT_ALL);
  VALUE(IORING_SETUP_COOP_TASKRUN);
  VALUE(IORING_SETUP_SINGLE_ISSUER);
  VALUE(IORING_SETUP_DEFER_TASKRUN);
  VALUE(IORING_FEAT_SINGLE_MMAP);
  VALUE(IORING_FEAT_NODROP);
  VALUE(IORING_FEAT_SUBMIT_STABLE);
  VALUE(IORING_FEAT_EXT_ARG);
  VALUE(IORING_ENTER_GETEVENTS);
  VALUE(IORING_ENTER_SQ_WAKEUP);
  VALUE(IORING_ENTER_EXT_ARG);
  VALUE(IORING_OFF_SQ_RING);
  VALUE(IORING_OFF_CQ_RING);
  VALUE(IORING_OFF_SQES);
  VALUE(IORING_SQ_NEED_WAKEUP);
  VALUE(IORING_SQ_CQ_OVERFLOW);
  VALUE(IORING_CQE_F_MORE);
  VALUE(IOSQE_FIXED_FILE);
  VALUE(IOSQE_IO_DRAIN);
  VALUE(IOSQE_IO_LINK);
  VALUE(IOSQE_IO_HARDLINK);
  VALUE(IOSQE_ASYNC);
  VALUE(IORING_FSYNC_DATASYNC);
  VALUE(IORING_ASYNC_CANCEL_ALL);
  VALUE(IORING_ASYNC_CANCEL_ANY);
  VALUE(IO_URING_OP_SUPPORTED);
  VALUE(IORING_OP_NOP);
  VALUE(IORING_OP_READV);
  VALUE(IORING_OP_WRITEV);
  VALUE(IORING_OP_FSYNC);
  VALUE(IORING_OP_READ_FIXED);
  VALUE(IORING_OP_WRITE_FIXED);
  VALUE(IORING_OP_TIMEOUT);
  VALUE(IORING_OP_ASYNC_CANCEL);
  VALUE(IORING_OP_LINK_TIMEOUT);
  VALUE(IORING_OP_FALLOCATE);
  VALUE(IORING_OP_CLOSE);
  VALUE(IORING_OP_READ);
  VALUE(IORING_OP_WRITE);
  VALUE(IORING_REGISTER_BUFFERS);
  VALUE(IORING_UNREGISTER_BUFFERS);
  VALUE(IORING_REGISTER_FILES);
  VALUE(IORING_UNREGISTER_FILES);
  VALUE(IORING_REGISTER_PROBE);
  VALUE(IORING_REGISTER_IOWQ_MAX_WORKERS);

#if !defined(PROBE_VENDOR) || defined(__x86_64__)
  VALUE(O_DIRECT_x86_64);
  VALUE(SYS_mbind_x86_64);
  VALUE(SYS_get_mempolicy_x86_64);
#endif

#if !defined(PROBE_VENDOR) || defined(__aarch64__)
  VALUE(O_DIRECT_aarch64);
  VALUE(SYS_mbind_aarch64);
  VALUE(SYS_get_mempolicy_aarch64);
#endif
  return 0;
}
