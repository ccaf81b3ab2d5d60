/*
 * Starts a program without io_uring and memory policies, as a container's seccomp profile does, and with little memory that
 * it may lock.
 */
#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char **arguments) {
  struct sock_filter filter[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 2, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_get_mempolicy, 1, 0),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
  };
  struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };
  struct rlimit limit = { 65536, 65536 };
  if (count < 2 || setrlimit(RLIMIT_MEMLOCK, &limit) != 0) {
    perror("setrlimit");
    return 1;
  }
  /* Only root has it, and may drop it. */
  prctl(PR_CAPBSET_DROP, CAP_IPC_LOCK, 0, 0, 0);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    perror("prctl");
    return 1;
  }
  execv(arguments[1], arguments + 1);
  perror("execv");
  return 1;
}
