// SPDX-License-Identifier: Apache-2.0
#include "harness/system/child.hpp"
#include "harness/core/error.hpp"
#include "harness/core/packing.hpp"
#include "harness/system/confine.hpp"
#include "harness/system/memory.hpp"
#include "harness/system/subprocess.hpp"
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <exception>
#include <fcntl.h>
#include <fstream>
#include <new>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace recollect {
namespace {

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(descriptor, bytes.data(), bytes.size());
    if (n <= 0) return false;
    bytes.remove_prefix(size_t(n));
  }
  return true;
}

void limit(int what, rlim_t most) {
  rlimit now{};
  if (getrlimit(what, &now) == 0) now.rlim_cur = std::min(most, now.rlim_max), setrlimit(what, &now);
}

/// What a child writes: a code, then its result or the message of its error.
bool answer_with(int descriptor, int code, std::string_view text) {
  const auto first = std::uint64_t(code);
  return write_all(descriptor, std::string_view(reinterpret_cast<const char *>(&first), sizeof first)) &&
         write_all(descriptor, text);
}

/// The body of the child process.
[[noreturn]] void live(int answer, const std::function<void(const Send &)> &work, unsigned seconds) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);                        // ends with its parent
  if (answer > 3) close_range(3, unsigned(answer) - 1, 0); // closes inherited files, which also releases their locks
  close_range(unsigned(answer) + 1, ~0u, 0);
  limit(RLIMIT_CORE, 0);
  if (seconds) limit(RLIMIT_CPU, seconds);
  const int nowhere = open("/dev/null", O_RDWR);
  for (int stream = 0; nowhere >= 0 && stream < 3; ++stream)
    dup2(nowhere, stream); // a library's messages are not meant for users
  confine_to_reading();
  bool begun = false, written = true;
  const auto fail = [&](int code, const char *message) { written = !begun && answer_with(answer, code, message); };
  try {
    work([&](std::string_view bytes) {
      if (!(begun ? write_all(answer, bytes) : answer_with(answer, exit_ok, bytes))) _exit(1);
      begun = true;
    });
  } catch (const Error &failure) {
    fail(failure.code, failure.what());
  } catch (const std::exception &failure) { // probably out of memory, so the message must not be allocated
    fail(exit_input, failure.what());
  }
  _exit(written ? 0 : 1);
}

/// A pipe, not a file in memory: ulimit -f limits those as well.
class Pipe {
public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) ends_ = {-1, -1};
    fcntl(ends_[1], F_SETPIPE_SZ, 1 << 20); // if refused, it has 64 KiB
  }
  ~Pipe() {
    for (int side : {0, 1}) close_side(side);
  }
  Pipe(const Pipe &) = delete;
  Pipe &operator=(const Pipe &) = delete;
  int in() const { return ends_[1]; }

  struct Cut {   // thrown if the child closes the pipe before it has written its whole result
    bool failed; // a read failed
  };
  /// Reads some of the bytes that the child wrote; returns 0 at their end.
  size_t read_some(void *bytes, size_t most) {
    close_side(1);
    ssize_t n;
    do n = read(ends_[0], bytes, most);
    while (n < 0 && errno == EINTR);
    if (n < 0) throw Cut{true};
    return size_t(n);
  }
  void read_exactly(void *bytes, size_t size) {
    for (char *at = static_cast<char *>(bytes); size > 0;) {
      const size_t n = read_some(at, size);
      if (n == 0) throw Cut{false};
      at += n, size -= n;
    }
  }
  void close_reading() { close_side(0); } // a child that still writes is ended by SIGPIPE

private:
  void close_side(int side) {
    if (ends_[size_t(side)] >= 0) close(ends_[size_t(side)]);
    ends_[size_t(side)] = -1;
  }
  std::array<int, 2> ends_{};
};

} // namespace

void in_child(const std::string &what, const std::function<void(const Send &)> &work,
              const std::function<void(const Receive &)> &take, unsigned seconds) {
  Pipe answer;
  const pid_t child = answer.in() < 0 ? -1 : fork_to_await();
  if (child < 0) input_error(what + " needs a process of its own, and none can be started");
  if (child == 0) live(answer.in(), work, seconds);
  std::uint64_t code = exit_ok;
  std::string message;
  bool whole = true, readable = true;
  std::exception_ptr failed;
  try {
    answer.read_exactly(&code, sizeof code);
    char block[4096];
    if (code == exit_ok)
      take([&](void *bytes, size_t size) { answer.read_exactly(bytes, size); });
    else
      for (size_t n; (n = answer.read_some(block, sizeof block)) > 0;) message.append(block, n);
  } catch (const Pipe::Cut &cut) {
    whole = false, readable = !cut.failed;
  } catch (...) { // not enough memory for the result
    failed = std::current_exception();
  }
  answer.close_reading();
  int status = 0;
  if (!awaited(child, status)) input_error(what + " needs a process of its own, whose end cannot be awaited");
  if (failed) std::rethrow_exception(failed);
  if (!readable) input_error(what + ": the result cannot be read back");
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
    input_error(what + " takes more than " + std::to_string(seconds) + " s: the file is damaged");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || !whole)
    input_error(what + " crashed the HDF5 library: the file is damaged, or memory ran out");
  if (code != exit_ok) throw Error(ExitCode(code), message);
}

namespace {

/// Adapts functions of a string to functions of pieces: sending() for the child, taking() for the parent.
std::function<void(const Send &)> sending(const std::function<std::string()> &work) {
  return [&work](const Send &send) { Packer(send) << work(); };
}
std::function<void(const Receive &)> taking(std::string &text) {
  return [&text](const Receive &receive) { Unpacker(receive) >> text; };
}

} // namespace

std::string in_child(const std::string &what, const std::function<std::string()> &work, unsigned seconds) {
  std::string text;
  in_child(what, sending(work), taking(text), seconds);
  return text;
}
std::string reading_in_child(const std::string &path, const std::function<std::string()> &work) {
  std::string text;
  reading_in_child(path, sending(work), taking(text));
  return text;
}

void reading_in_child(const std::string &path, const std::function<void(const Send &)> &work,
                      const std::function<void(const Receive &)> &take) {
  // One deflated byte expands to at most 1032 bytes, which the slowest machine reads in 10 us. 8 of these become a
  // table cell of 64 bytes, plus the library's own memory.
  constexpr unsigned least_seconds = 10, bytes_per_second = 100'000;
  constexpr std::uint64_t bytes_a_byte = 8256, least_bytes = 256 << 20;
  struct stat s {};
  const auto bytes = stat(path.c_str(), &s) == 0 ? std::uint64_t(s.st_size) : 0;
  in_child(
      "reading " + path,
      [&](const Send &send) {
        std::uint64_t pages = 0; // pages of this process's address space
        std::ifstream("/proc/self/statm") >> pages;
        const std::uint64_t held = pages * std::uint64_t(sysconf(_SC_PAGESIZE));
        const std::uint64_t most = std::min(memory_limit(), least_bytes + saturating_product(bytes, bytes_a_byte));
        limit(RLIMIT_AS, held + std::min<std::uint64_t>(most, RLIM_INFINITY - 1 - held));
        try {
          work(send);
        } catch (const std::bad_alloc &) {
          input_error("reading " + path + " needs more than --memory allows");
        }
      },
      take, unsigned(std::min<std::uint64_t>(least_seconds + bytes / bytes_per_second, 1u << 30)));
}

} // namespace recollect
