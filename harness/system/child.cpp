// SPDX-License-Identifier: Apache-2.0
#include "harness/system/child.hpp"
#include "harness/core/error.hpp"
#include "harness/system/confine.hpp"
#include "harness/system/subprocess.hpp"
#include <array>
#include <cerrno>
#include <csignal>
#include <exception>
#include <fcntl.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/resource.h>
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

/// Writes the child's answer: an exit code, then the result or the message of the error.
bool answer_with(int descriptor, int code, std::string_view text) {
  const auto first = std::uint64_t(code);
  return write_all(descriptor, std::string_view(reinterpret_cast<const char *>(&first), sizeof first)) &&
         write_all(descriptor, text);
}

/// The body of the child process.
[[noreturn]] void live(int answer, const std::function<void(const Send &)> &work, unsigned seconds) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);                        // the child is killed when its parent ends
  if (answer > 3) close_range(3, unsigned(answer) - 1, 0); // closes inherited files, which also releases their locks
  close_range(unsigned(answer) + 1, ~0u, 0);
  limit_resource(RLIMIT_CORE, 0);
  if (seconds) limit_resource(RLIMIT_CPU, seconds);
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

/// The pipe for the child's answer. A file in memory would be subject to ulimit -f.
class Pipe {
public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) ends_ = {-1, -1};
    fcntl(ends_[1], F_SETPIPE_SZ, 1 << 20); // if the system refuses, the pipe keeps its 64 KiB
  }
  ~Pipe() {
    for (int side : {0, 1}) close_side(side);
  }
  Pipe(const Pipe &) = delete;
  Pipe &operator=(const Pipe &) = delete;
  int in() const { return ends_[1]; }

  struct Cut {   // thrown if the child closes the pipe before it has written its whole result
    bool failed; // whether read() failed
  };
  /// Reads some of the bytes that the child wrote, and returns their number; 0 after the last byte.
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
  if (child < 0) input_error(what + " needs a separate process, but none can be started");
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
  if (!awaited(child, status)) input_error(what + " runs in a separate process, whose end cannot be awaited");
  if (failed) std::rethrow_exception(failed);
  if (!readable) input_error(what + ": the result cannot be read back");
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
    input_error(what + " takes more than " + std::to_string(seconds) +
                " s of processor time: the file is damaged, or this machine too slow for what it holds");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || !whole)
    input_error(what + " crashed the HDF5 library: the file is damaged, or memory ran out");
  if (code != exit_ok) throw Error(ExitCode(code), message);
}

} // namespace recollect
