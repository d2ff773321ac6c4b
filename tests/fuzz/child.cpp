// SPDX-License-Identifier: Apache-2.0
// HDF5 is read in a child process, of which libFuzzer sees nothing: neither the code that ran there nor what a sanitizer
// found, since the program takes any crash for a damaged file. Here the child leaves both in memory that it shares.
#include "tests/fuzz/target.hpp"
#include <algorithm>
#include <cstring>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/time.h>

extern "C" {
extern std::uint8_t __start___sancov_cntrs[], __stop___sancov_cntrs[]; // libFuzzer's counters of this program
extern const char __executable_start[], etext[];
int __asan_report_present();
void *__asan_get_report_pc();
void __sanitizer_set_death_callback(void (*)());
[[noreturn]] void __real__exit(int status);
}

namespace {

struct Shared {
  bool found;             // by a sanitizer in the child
  std::uint8_t counts[1]; // of the child
};
Shared *shared = nullptr;

size_t counters() { return size_t(__stop___sancov_cntrs - __start___sancov_cntrs); }

/// Damaged files make HDF5 crash and ask for more memory than there is, which come here as well: no findings.
void at_death() {
  if (!__asan_report_present()) return;
  const auto *place = static_cast<const char *>(__asan_get_report_pc());
  shared->found = place >= __executable_start && place < etext;
}

void in_the_child() {
  std::memset(__start___sancov_cntrs, 0, counters());
  __sanitizer_set_death_callback(at_death);
  const itimerval most{{}, {0, 200'000}}; // a damaged file makes HDF5 loop, for which the program gives it ten seconds
  setitimer(ITIMER_VIRTUAL, &most, nullptr);
}

} // namespace

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  void *memory = mmap(nullptr, sizeof(Shared) + counters(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || pthread_atfork(nullptr, nullptr, in_the_child) != 0) std::abort();
  shared = static_cast<Shared *>(memory);
  return 0;
}

extern "C" const char *__asan_default_options() {
  return "quarantine_size_mb=1:allocator_release_to_os_interval_ms=100:" // little memory, so that children start fast
         "allocator_may_return_null=1";
}
extern "C" const char *__asan_default_suppressions() { return "interceptor_via_lib:libhdf5"; }
extern "C" void __ubsan_on_report() { shared->found = true; }

extern "C" [[noreturn]] void __wrap__exit(int status) {
  std::memcpy(shared->counts, __start___sancov_cntrs, counters());
  __real__exit(status);
}

void recollect::take_over_from_child() {
  if (shared->found) std::abort();
  for (size_t i = 0; i < counters(); ++i)
    __start___sancov_cntrs[i] = std::max(__start___sancov_cntrs[i], shared->counts[i]);
  std::memset(shared->counts, 0, counters());
}
