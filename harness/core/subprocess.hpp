// SPDX-License-Identifier: Apache-2.0
// Other programs, and children of this one.
#pragma once
#include <string>
#include <sys/types.h>
#include <vector>

namespace recollect {

/// fork(), after which awaited() tells how the child ended. Under a parent that ignores SIGCHLD, as some daemons do, the
/// kernel would throw that away: from here on SIGCHLD is at its default.
pid_t fork_to_await();
/// Waits for the child. Its status as waitpid() has it; false where none can be had, which is no success.
bool awaited(pid_t child, int &status);

/// Runs words[0] (found on the PATH) with the others as its arguments. It ends when this process does. Its exit status; -1
/// where it could not be started or was killed. What it says on standard error is put into `errors`.
int run_program(const std::vector<std::string> &words, std::string &errors);
/// The same with all output thrown away.
int run_quietly(const std::vector<std::string> &words);

/// A program that is asked by lines on its standard input and answers each with a line on its standard output. What it
/// says on standard error is thrown away. It is to end when its input does, which is when this goes.
class Dialogue {
public:
  explicit Dialogue(const std::vector<std::string> &words);
  ~Dialogue();
  Dialogue(const Dialogue &) = delete;
  Dialogue &operator=(const Dialogue &) = delete;
  /// Its answer. False where it has ended, or could not be started.
  bool ask(const std::string &question, std::string &answer);

private:
  pid_t child = -1;
  int line = -1;
};

} // namespace recollect
