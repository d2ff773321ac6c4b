// SPDX-License-Identifier: Apache-2.0
// HDF5 is read in a child process, of which libFuzzer sees nothing: neither the code that runs there nor what a sanitizer
// finds, since the program takes any crash for a damaged file. And most of an input's time would go into starting it.
//
// So this in_child() takes the place of harness/system/child.cpp: a worker, as confined as the program's child, does the
// work of many inputs, with HDF5 initialised once. It leaves its answer, its counters and what a sanitizer found in memory
// that it shares. As the work holds references to this process, the worker runs the target itself, up to the call that
// is asked for. If it crashes, loops, or has answered often enough that HDF5 may have leaked much, the next one starts.
#include "harness/system/child.hpp"
#include "harness/core/error.hpp"
#include "harness/files/hdf5_file.hpp"
#include "harness/system/confine.hpp"
#include "harness/system/memory.hpp"
#include "harness/system/subprocess.hpp"
#include "tests/fuzz/target.hpp"
#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

extern "C" {
extern std::uint8_t __start___sancov_cntrs[], __stop___sancov_cntrs[]; // libFuzzer's counters of this program
extern const char __executable_start[], etext[];
int __asan_report_present();
void *__asan_get_report_pc();
void __sanitizer_set_death_callback(void (*)());
}

namespace recollect {
namespace {

constexpr size_t most_memory = 64 << 20, most_counters = 1 << 20;
constexpr int most_answers = 1000; // of one worker
constexpr std::int64_t most_nanoseconds =
    100'000'000; // a damaged file makes HDF5 loop, for which the program gives it ten seconds

struct Shared {
  bool found; // by a sanitizer in the worker
  bool answered;
  int code; // of the answer: exit_ok, or of an Error whose message the answer is
  size_t size;
  char answer[2 * most_memory];
  std::uint8_t counts[most_counters]; // of the worker
};
Shared *shared = nullptr;
bool is_worker = false;
int calls = 0, wanted = 0; // of in_child() for one input; of these the worker is to answer

size_t counters() { return size_t(__stop___sancov_cntrs - __start___sancov_cntrs); }

/// Damaged files make HDF5 crash and ask for more memory than there is, which come here as well: no findings.
void at_death() {
  if (!__asan_report_present()) return;
  const auto *place = static_cast<const char *>(__asan_get_report_pc());
  shared->found = place >= __executable_start && place < etext;
}

struct Answered {};

/// Does the work here. The answer of the call that is wanted goes to the other process, and the target ends.
void work_here(const std::function<void(const Send &)> &work, const std::function<void(const Receive &)> &take) {
  std::string answer;
  int code = exit_ok;
  try {
    work([&](std::string_view bytes) { answer += bytes; });
  } catch (const Error &failure) {
    code = answer.empty() ? failure.code : (_exit(1), 0); // as in the program, an error between the pieces is a crash
    answer = failure.what();
  } catch (const std::exception &failure) {
    code = answer.empty() ? int(exit_input) : (_exit(1), 0);
    answer = failure.what();
  }
  if (calls++ == wanted) {
    if (answer.size() > sizeof shared->answer) _exit(1);
    std::memcpy(shared->answer, answer.data(), answer.size());
    shared->code = code, shared->size = answer.size(), shared->answered = true;
    throw Answered{};
  }
  if (code != exit_ok) throw Error(ExitCode(code), answer);
  size_t at = 0;
  take([&](void *bytes, size_t size) {
    if (size > answer.size() - at) throw Answered{}; // without one
    std::memcpy(bytes, answer.data() + at, size);
    at += size;
  });
}

[[noreturn]] void serve(int questions, int answers) {
  is_worker = true;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  limit_resource(RLIMIT_CORE, 0);
  const int nowhere = open("/dev/null", O_RDWR);
  for (int stream = 0; stream < 3; ++stream) dup2(nowhere, stream);
  confine_to_reading();
  __sanitizer_set_death_callback(at_death);
  while (read(questions, &wanted, sizeof wanted) == sizeof wanted) {
    std::memset(__start___sancov_cntrs, 0, counters());
    calls = 0;
    try {
      fuzz("");
    } catch (const Answered &) {
    } catch (const Error &) {
    }
    std::memcpy(shared->counts, __start___sancov_cntrs, counters());
    if (write(answers, "", 1) != 1) break;
  }
  _exit(0);
}

class Worker {
public:
  /// Whether it answered; the answer is in `shared`. If not, it has ended.
  bool answers(int call) {
    if (process_ < 0) start();
    shared->answered = false;
    shared->size = 0;
    const std::int64_t before = used();
    char byte;
    bool alive = write(question_, &call, sizeof call) == sizeof call;
    for (pollfd answer{answer_, POLLIN, 0}; alive;) {
      const int ready = poll(&answer, 1, 10);
      if (ready > 0) alive = read(answer_, &byte, 1) == 1;
      if (ready > 0) break;
      if (used() - before > most_nanoseconds) alive = false;
    }
    if (shared->found) std::abort();
    for (size_t i = 0; alive && i < counters(); ++i)
      __start___sancov_cntrs[i] = std::max(__start___sancov_cntrs[i], shared->counts[i]);
    if (alive && !shared->answered && call == 0) std::abort(); // the target does something else there
    if (!alive || ++answered_ == most_answers) end();
    return alive && shared->answered;
  }

private:
  void start() {
    std::array<int, 2> questions, answers;
    if (pipe2(questions.data(), O_CLOEXEC) != 0 || pipe2(answers.data(), O_CLOEXEC) != 0) std::abort();
    process_ = fork_to_await();
    if (process_ < 0) std::abort();
    if (process_ == 0) {
      close(questions[1]), close(answers[0]);
      serve(questions[0], answers[1]);
    }
    close(questions[0]), close(answers[1]);
    question_ = questions[1], answer_ = answers[0], answered_ = 0;
  }
  void end() {
    int status;
    kill(process_, SIGKILL);
    awaited(process_, status);
    close(question_), close(answer_);
    process_ = -1;
  }
  std::int64_t used() const { // processor time
    clockid_t clock;
    timespec time{};
    if (clock_getcpuclockid(process_, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
    return std::int64_t(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
  }

  pid_t process_ = -1;
  int question_ = -1, answer_ = -1, answered_ = 0;
};

} // namespace

bool in_the_worker() { return is_worker; }

void in_child(const std::string &what, const std::function<void(const Send &)> &work,
              const std::function<void(const Receive &)> &take, unsigned) {
  if (is_worker) return work_here(work, take);
  static Worker worker;
  const auto crashed = [&] { input_error(what + " crashed the HDF5 library: the file is damaged, or memory ran out"); };
  if (!worker.answers(calls++)) crashed();
  if (shared->code != exit_ok) throw Error(ExitCode(shared->code), std::string(shared->answer, shared->size));
  size_t at = 0;
  take([&](void *bytes, size_t size) {
    if (size > shared->size - at) crashed();
    std::memcpy(bytes, shared->answer + at, size);
    at += size;
  });
}

} // namespace recollect

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  using namespace recollect;
  void *memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || counters() > most_counters) std::abort();
  shared = static_cast<Shared *>(memory);
  set_memory_limit(most_memory);
  try {
    Hdf5File("/dev/null"); // so that no worker has to initialise HDF5
  } catch (const Error &) {
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  using namespace recollect;
  calls = 0;
  try {
    fuzz(std::string(reinterpret_cast<const char *>(data), size));
  } catch (const Error &refusal) {
    if (refusal.code != exit_usage && refusal.code != exit_input) std::abort();
    if (std::string(refusal.what()).empty()) std::abort();
  }
  return 0;
}

extern "C" const char *__asan_default_options() {
  return "quarantine_size_mb=1:allocator_release_to_os_interval_ms=100:" // little memory, so that the worker starts fast
         "allocator_may_return_null=1";
}
extern "C" const char *__asan_default_suppressions() { return "interceptor_via_lib:libhdf5"; }
extern "C" void __ubsan_on_report() { recollect::shared->found = true; }
