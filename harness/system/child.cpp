// SPDX-License-Identifier: Apache-2.0
#include "harness/system/child.hpp"
#include "harness/core/error.hpp"
#include "harness/system/confine.hpp"
#include "harness/system/memory.hpp"
#include "harness/system/subprocess.hpp"
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <new>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

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

/// The first bytes in the pipe. The parent reserves `size` bytes, so a result of gigabytes is not copied as it grows.
struct Head {
  std::uint64_t code, size;
};

/// Writes the code, and the result or error message.
bool answer_with(int descriptor, int code, std::string_view text) {
  const Head head{std::uint64_t(code), text.size()};
  return write_all(descriptor, std::string_view(reinterpret_cast<const char *>(&head), sizeof head)) &&
         write_all(descriptor, text);
}

/// Everything the child does.
[[noreturn]] void live(int answer, const std::function<std::string()> &work, unsigned seconds) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);                        // ends with its parent
  if (answer > 3) close_range(3, unsigned(answer) - 1, 0); // closes inherited files, which also releases their locks
  close_range(unsigned(answer) + 1, ~0u, 0);
  limit(RLIMIT_CORE, 0);
  if (seconds) limit(RLIMIT_CPU, seconds);
  const int nowhere = open("/dev/null", O_RDWR);
  for (int stream = 0; nowhere >= 0 && stream < 3; ++stream)
    dup2(nowhere, stream); // a library's messages are not meant for users
  confine_to_reading();
  bool written = false;
  try {
    written = answer_with(answer, exit_ok, work());
  } catch (const Error &failure) {
    written = answer_with(answer, failure.code, failure.what());
  } catch (const std::exception &failure) { // probably out of memory, so the message must not be allocated
    written = answer_with(answer, exit_input, failure.what());
  }
  _exit(written ? 0 : 1);
}

/// A pipe, not a file in memory: ulimit -f limits those as well.
class Pipe {
public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) ends_ = {-1, -1};
  }
  ~Pipe() {
    for (int side : {0, 1}) close_side(side);
  }
  Pipe(const Pipe &) = delete;
  Pipe &operator=(const Pipe &) = delete;
  int in() const { return ends_[1]; }

  /// Reads everything until the other side is closed, then closes the pipe. False on a read error.
  bool read_all(Head &head, std::string &bytes) {
    close_side(1);
    std::vector<char> block(1 << 16);
    ssize_t n;
    size_t of_head = 0;
    while ((n = read(ends_[0], block.data(), block.size())) > 0 || (n < 0 && errno == EINTR)) {
      if (n < 0) continue;
      const size_t first = std::min(size_t(n), sizeof head - of_head);
      std::memcpy(reinterpret_cast<char *>(&head) + of_head, block.data(), first);
      of_head += first;
      if (bytes.empty() && of_head == sizeof head) bytes.reserve(size_t(std::min(head.size, memory_limit())));
      bytes.append(block.data() + first, size_t(n) - first);
    }
    close_side(0); // a child that still writes is ended by SIGPIPE
    return n == 0;
  }

private:
  void close_side(int side) {
    if (ends_[size_t(side)] >= 0) close(ends_[size_t(side)]);
    ends_[size_t(side)] = -1;
  }
  std::array<int, 2> ends_{};
};

} // namespace

std::string in_child(const std::string &what, const std::function<std::string()> &work, unsigned seconds) {
  Pipe answer;
  const pid_t child = answer.in() < 0 ? -1 : fork_to_await();
  if (child < 0) input_error(what + " needs a process of its own, and none can be started");
  if (child == 0) live(answer.in(), work, seconds);
  Head head{};
  std::string bytes;
  const bool whole = answer.read_all(head, bytes);
  int status = 0;
  if (!awaited(child, status)) input_error(what + " needs a process of its own, whose end cannot be awaited");
  if (!whole) input_error(what + ": the result cannot be read back");
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
    input_error(what + " takes more than " + std::to_string(seconds) + " s: the file is damaged");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || bytes.size() != head.size)
    input_error(what + " crashed the HDF5 library: the file is damaged, or memory ran out");
  if (head.code != exit_ok) throw Error(ExitCode(head.code), bytes);
  return bytes;
}

std::string reading_in_child(const std::string &path, const std::function<std::string()> &work) {
  // One deflated byte expands to at most 1032 bytes, which the slowest machine reads in 10 us. 8 of these become a
  // table cell of 64 bytes, plus the library's own memory.
  constexpr unsigned least_seconds = 10, bytes_per_second = 100'000;
  constexpr std::uint64_t bytes_a_byte = 8256, least_bytes = 256 << 20;
  struct stat s {};
  const auto bytes = stat(path.c_str(), &s) == 0 ? std::uint64_t(s.st_size) : 0;
  return in_child(
      "reading " + path,
      [&] {
        std::uint64_t pages = 0; // of this process's address space
        std::ifstream("/proc/self/statm") >> pages;
        const std::uint64_t held = pages * std::uint64_t(sysconf(_SC_PAGESIZE));
        const std::uint64_t most = std::min(memory_limit(), least_bytes + saturating_product(bytes, bytes_a_byte));
        limit(RLIMIT_AS, held + std::min<std::uint64_t>(most, RLIM_INFINITY - 1 - held));
        try {
          return work();
        } catch (const std::bad_alloc &) {
          input_error("reading " + path + " needs more than --memory allows");
        }
      },
      unsigned(std::min<std::uint64_t>(least_seconds + bytes / bytes_per_second, 1u << 30)));
}

} // namespace recollect
