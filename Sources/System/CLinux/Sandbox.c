// A process that reads what strangers have written, and can do nothing else.
#include "CLinux.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "the sandbox needs the AUDIT_ARCH_ of this processor"
#endif

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define END_WITH(action) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_##action)
#define ALLOW(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 1), END_WITH(ALLOW)
// Both processors have the low half of an argument first.
#define ALLOW_WITHOUT_EXECUTION(call)                         \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##call, 0, 4),     \
      LOAD(args[2]), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0), \
      END_WITH(ALLOW), END_WITH(KILL_PROCESS)

static int limit(int resource, uint64_t value) {
  struct rlimit both = {.rlim_cur = value, .rlim_max = value};
  return setrlimit(resource, &both);
}

int clinux_confine(uint64_t memory_bytes, uint64_t file_bytes, uint64_t processor_seconds) {
  static struct sock_filter rules[] = {
      LOAD(arch),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
      END_WITH(KILL_PROCESS),
      LOAD(nr),
      // The descriptors that it was given.
      ALLOW(read),
      ALLOW(write),
      // Memory, which never becomes code.
      ALLOW_WITHOUT_EXECUTION(mmap),
      ALLOW_WITHOUT_EXECUTION(mprotect),
      ALLOW(munmap),
      ALLOW(mremap),
      ALLOW(madvise),
      ALLOW(brk),
      // Swift's locks and the seed of its hashes; and what qsort(3) asks for before it sorts.
      ALLOW(futex),
      ALLOW(gettid),
      ALLOW(getrandom),
      ALLOW(sysinfo),
      ALLOW(exit),
      ALLOW(exit_group),
      END_WITH(KILL_PROCESS),
  };
  struct sock_fprog program = {.len = sizeof rules / sizeof rules[0], .filter = rules};
  // Descriptors that are open stay open.
  if (limit(RLIMIT_NOFILE, 0) || limit(RLIMIT_CORE, 0) || limit(RLIMIT_FSIZE, file_bytes) ||
      limit(RLIMIT_CPU, processor_seconds) || limit(RLIMIT_AS, memory_bytes)) {
    return -1;
  }
  // Its parent's work comes first; and it ends with the thread that has started it.
  setpriority(PRIO_PROCESS, 0, 10);
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) || prctl(PR_SET_DUMPABLE, 0) ||
      prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) {
    return -1;
  }
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
