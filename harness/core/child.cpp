// SPDX-License-Identifier: Apache-2.0
#include "harness/core/child.hpp"
#include "harness/core/error.hpp"
#include "harness/core/memory.hpp"
#include "harness/core/subprocess.hpp"
#include <algorithm>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <new>
#include <string_view>
#include <sys/mman.h>
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

/// Everything the child does: it writes one status byte, then the result or the error message.
[[noreturn]] void live(int answer, const std::function<std::string()> &work, unsigned seconds) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);                        // ends with its parent
  if (answer > 3) close_range(3, unsigned(answer) - 1, 0); // closes inherited files and their locks
  close_range(unsigned(answer) + 1, ~0u, 0);
  limit(RLIMIT_CORE, 0);
  if (seconds) limit(RLIMIT_CPU, seconds);
  const int nowhere = open("/dev/null", O_WRONLY);
  if (nowhere >= 0) dup2(nowhere, STDERR_FILENO); // messages of a library are not for users
  bool written = false;
  try {
    const std::string result = work();
    written = write_all(answer, std::string_view("\0", 1)) && write_all(answer, result);
  } catch (const Error &failure) {
    written = write_all(answer, std::string(1, char(failure.code)) + failure.what());
  } catch (const std::exception &failure) { // probably out of memory, so the message must not allocate
    const char code = char(exit_input);
    written = write_all(answer, std::string_view(&code, 1)) && write_all(answer, failure.what());
  }
  _exit(written ? 0 : 1);
}

struct Descriptor {
  int id;
  ~Descriptor() {
    if (id >= 0) close(id);
  }
};

} // namespace

std::string in_child(const std::string &what, const std::function<std::string()> &work, unsigned seconds) {
  const Descriptor answer{memfd_create("answer", MFD_CLOEXEC)};
  const pid_t child = answer.id < 0 ? -1 : fork_to_await();
  if (child < 0) input_error(what + " needs a process of its own, and none can be started");
  if (child == 0) live(answer.id, work, seconds);
  int status = 0;
  if (!awaited(child, status)) input_error(what + " needs a process of its own, whose end cannot be awaited");
  const off_t size = lseek(answer.id, 0, SEEK_END);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
    input_error(what + " takes more than " + std::to_string(seconds) + " s: the file is damaged");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || size < 1)
    input_error(what + " crashed the HDF5 library: the file is damaged, or memory ran out");
  std::string bytes(size_t(size), '\0');
  for (off_t done = 0; done < size;) {
    const ssize_t n = pread(answer.id, &bytes[size_t(done)], size_t(size - done), done);
    if (n <= 0) input_error(what + ": the result cannot be read back");
    done += n;
  }
  const int code = static_cast<unsigned char>(bytes[0]);
  bytes.erase(0, 1);
  if (code) throw Error(ExitCode(code), bytes);
  return bytes;
}

std::string reading_in_child(const std::string &path, const std::function<std::string()> &work) {
  // A deflated byte expands to at most 1032, which the slowest machine reads in 10 us. 8 of these become a table cell of 64
  // bytes; the library's own memory comes on top.
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
