// SPDX-License-Identifier: Apache-2.0
#include "harness/core/start.hpp"
#include "harness/core/error.hpp"
#include <csignal>
#include <sys/time.h>
#include <unistd.h>

namespace recollect {
namespace {

constexpr int seconds = 4; // a start takes 0.02 s

void give_up(int) {
  const char said[] =
      "recollect: the libraries do not start: too little memory (ulimit -v), or set OMP_NUM_THREADS=1\n";
  if (write(STDERR_FILENO, said, sizeof said - 1) < 0) _exit(exit_input);
  _exit(exit_input);
}

} // namespace

void limit_start() {
  signal(SIGPROF, give_up);
  const itimerval once{{0, 0}, {seconds, 0}};
  setitimer(ITIMER_PROF, &once, nullptr);
}

void started() {
  const itimerval never{};
  setitimer(ITIMER_PROF, &never, nullptr);
  signal(SIGPROF, SIG_DFL);
}

} // namespace recollect
