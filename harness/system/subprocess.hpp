// SPDX-License-Identifier: Apache-2.0
// Starts other programs, and forks children of this one.
#pragma once
#include <string>
#include <sys/types.h>
#include <vector>

namespace recollect {

/// Like fork(). awaited() can tell how the child ended. If the parent ignores SIGCHLD, as some daemons do, the kernel
/// would discard this information, so SIGCHLD is set to its default.
pid_t fork_to_await();
/// Waits for the child; `status` becomes its status from waitpid(). False if there is no status, which counts as a
/// failure.
bool awaited(pid_t child, int &status);

/// Runs the program words[0], searched in the PATH, with the other words as arguments. The program gets SIGTERM if this
/// process ends. Returns the exit status of the program, or -1 if it could not be started or was killed. What the
/// program writes to its standard error is appended to `errors`.
int run_program(const std::vector<std::string> &words, std::string &errors);
/// Like run_program(), but discards all output.
int run_quietly(const std::vector<std::string> &words);

/// A program that answers each line on its standard input with a line on its standard output. Its standard error is
/// discarded. The program must end when its input ends, which happens when this object is destroyed.
class Dialogue {
public:
  explicit Dialogue(const std::vector<std::string> &words);
  ~Dialogue();
  Dialogue(const Dialogue &) = delete;
  Dialogue &operator=(const Dialogue &) = delete;
  /// Sends a line and waits for the answer. False if the program has ended or could not be started.
  bool ask(const std::string &question, std::string &answer);

private:
  pid_t child = -1;
  int line = -1;
};

} // namespace recollect
