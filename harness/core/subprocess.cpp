// SPDX-License-Identifier: Apache-2.0
#include "harness/core/subprocess.hpp"
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace recollect {
namespace {

int run(const std::vector<std::string> &words, bool quiet) {
  std::vector<char *> arguments;
  for (const std::string &word : words) arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (quiet) {
      const int nowhere = open("/dev/null", O_WRONLY);
      dup2(nowhere, STDOUT_FILENO), dup2(nowhere, STDERR_FILENO);
    }
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) != 127 ? WEXITSTATUS(status) : -1;
}

} // namespace

int run_program(const std::vector<std::string> &words) { return run(words, false); }
int run_quietly(const std::vector<std::string> &words) { return run(words, true); }

} // namespace recollect
