// SPDX-License-Identifier: Apache-2.0
#include "harness/system/confine.hpp"
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace recollect {
namespace {

#if defined(__x86_64__)
constexpr unsigned machine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned machine = AUDIT_ARCH_AARCH64;
#else
constexpr unsigned machine = 0;
#endif

constexpr unsigned allowed[] = {
#ifdef __NR_open // older calls, which newer architectures lack
    __NR_stat,
    __NR_lstat,
    __NR_access,
    __NR_readlink,
#endif
#ifdef __NR_newfstatat
    __NR_newfstatat,
#endif
    __NR_read,
    __NR_readv,
    __NR_pread64,
    __NR_preadv,
    __NR_write,
    __NR_writev,
    __NR_lseek,
    __NR_close,
    __NR_fstat,
    __NR_statx,
    __NR_faccessat,
    __NR_readlinkat,
    __NR_getcwd,
    __NR_fcntl,
    __NR_flock,
    __NR_fadvise64,
    __NR_brk,
    __NR_mmap,
    __NR_munmap,
    __NR_mremap,
    __NR_mprotect,
    __NR_madvise,
    __NR_futex,
    __NR_getrandom,
    __NR_rt_sigaction,
    __NR_rt_sigprocmask,
    __NR_rt_sigreturn,
    __NR_sigaltstack,
    __NR_getpid,
    __NR_gettid,
    __NR_getuid,
    __NR_clock_gettime,
    __NR_gettimeofday,
    __NR_getrusage,
    __NR_sysinfo,
    __NR_uname,
    __NR_sched_getaffinity,
    __NR_sched_yield,
    __NR_exit,
    __NR_exit_group,
    __NR_restart_syscall};

/// Flags of open() that permit nothing but reading.
constexpr unsigned reading = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_DIRECTORY | O_NOFOLLOW | O_LARGEFILE | O_NOCTTY;

class Filter {
public:
  Filter() {
    load(offsetof(seccomp_data, arch));
    unless(machine, {refuse});
    load(offsetof(seccomp_data, nr));
    for (const unsigned call : allowed) when(call, {allow});
#ifdef __NR_open
    when(__NR_open, if_without(~reading, 1));
#endif
    when(__NR_openat, if_without(~reading, 2));
    when(__NR_prlimit64, if_without(~0u, 0));           // limits of this process only
    when(__NR_tgkill, if_equal(unsigned(getpid()), 0)); // abort()
    code_.push_back(refuse);
  }
  std::vector<sock_filter> &code() { return code_; }

private:
  using Code = std::vector<sock_filter>;
  static constexpr sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  static constexpr sock_filter refuse = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);

  void load(size_t at) { code_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, unsigned(at))); }
  void when(unsigned value, const Code &then) { // skips `then` unless the value matches
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, static_cast<unsigned char>(then.size())));
    code_.insert(code_.end(), then.begin(), then.end());
  }
  void unless(unsigned value, const Code &then) {
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, static_cast<unsigned char>(then.size()), 0));
    code_.insert(code_.end(), then.begin(), then.end());
  }
  static Code if_equal(unsigned value, unsigned argument) {
    return {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, unsigned(offsetof(seccomp_data, args)) + 8 * argument),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0), refuse, allow};
  }
  /// Allows a call if the low 32 bits of this argument have none of `bits` set.
  static Code if_without(unsigned bits, unsigned argument) {
    return {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, unsigned(offsetof(seccomp_data, args)) + 8 * argument),
            BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1), refuse, allow};
  }

  Code code_;
};

} // namespace

bool confine_to_reading() {
  if (machine == 0) return false;
  Filter filter;
  const sock_fprog program{static_cast<unsigned short>(filter.code().size()), filter.code().data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

void limit_resource(int resource, std::uint64_t most) {
  rlimit now{};
  if (getrlimit(resource, &now) == 0) now.rlim_cur = std::min<rlim_t>(most, now.rlim_max), setrlimit(resource, &now);
}

} // namespace recollect
