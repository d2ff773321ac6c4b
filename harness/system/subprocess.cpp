// SPDX-License-Identifier: Apache-2.0
#include "harness/system/subprocess.hpp"
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace recollect {
namespace {

/// Starts the child with these descriptors as its standard streams (negative: unchanged). Returns its id, negative on
/// failure.
pid_t start(const std::vector<std::string> &words, int in, int out, int err) {
  std::vector<char *> arguments;
  for (const std::string &word : words) arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t child = fork_to_await();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (in >= 0) dup2(in, STDIN_FILENO);
  if (out >= 0) dup2(out, STDOUT_FILENO);
  if (err >= 0) dup2(err, STDERR_FILENO);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

int run(const std::vector<std::string> &words, int out, int err) {
  const pid_t child = start(words, -1, out, err);
  int status = 0;
  return child > 0 && awaited(child, status) && WIFEXITED(status) && WEXITSTATUS(status) != 127 ? WEXITSTATUS(status)
                                                                                                : -1;
}

int open_nowhere() { return open("/dev/null", O_WRONLY | O_CLOEXEC); }

} // namespace

pid_t fork_to_await() {
  signal(SIGCHLD, SIG_DFL); // the program has no handler for SIGCHLD
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
  const int nowhere = open_nowhere();
  const int status = run(words, nowhere, nowhere);
  if (nowhere >= 0) close(nowhere);
  return status;
}

Dialogue::Dialogue(const std::vector<std::string> &words) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
  const int nowhere = open_nowhere();
  child = start(words, ends[1], ends[1], nowhere);
  line = ends[0];
  close(ends[1]);
  if (nowhere >= 0) close(nowhere);
}

Dialogue::~Dialogue() {
  if (line >= 0) close(line);
  int status;
  if (child > 0) awaited(child, status);
}

bool Dialogue::ask(const std::string &question, std::string &answer) {
  const std::string said = question + '\n';
  ssize_t n;
  for (size_t at = 0; at < said.size(); at += size_t(n)) { // MSG_NOSIGNAL: no SIGPIPE if the other process has ended
    n = send(line, said.data() + at, said.size() - at, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) n = 0;
    if (n < 0) return false;
  }
  for (answer.clear(); answer.empty() || answer.back() != '\n';) {
    char block[4096];
    n = recv(line, block, sizeof block, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    answer.append(block, size_t(n));
  }
  answer.pop_back();
  return true;
}

} // namespace recollect
