// SPDX-License-Identifier: Apache-2.0
#include "harness/core/subprocess.hpp"
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace recollect {
namespace {

/// Standard output and error go to these descriptors; a negative one stays as it is.
int run(const std::vector<std::string> &words, int out, int err) {
  std::vector<char *> arguments;
  for (const std::string &word : words) arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = fork_to_await();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (out >= 0) dup2(out, STDOUT_FILENO);
    if (err >= 0) dup2(err, STDERR_FILENO);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  return child > 0 && awaited(child, status) && WIFEXITED(status) && WEXITSTATUS(status) != 127 ? WEXITSTATUS(status)
                                                                                                : -1;
}

} // namespace

pid_t fork_to_await() {
  signal(SIGCHLD, SIG_DFL); // nothing here handles it
  return fork();
}

bool awaited(pid_t child, int &status) {
  pid_t ended;
  do ended = waitpid(child, &status, 0);
  while (ended < 0 && errno == EINTR);
  return ended == child;
}

int run_program(const std::vector<std::string> &words, std::string &errors) {
  const int said = memfd_create("errors", MFD_CLOEXEC);
  const int status = run(words, -1, said);
  char block[4096];
  ssize_t n;
  for (off_t at = 0; said >= 0 && (n = pread(said, block, sizeof block, at)) > 0; at += n)
    errors.append(block, size_t(n));
  if (said >= 0) close(said);
  return status;
}

int run_quietly(const std::vector<std::string> &words) {
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  const int status = run(words, nowhere, nowhere);
  if (nowhere >= 0) close(nowhere);
  return status;
}

} // namespace recollect
