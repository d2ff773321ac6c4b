// SPDX-License-Identifier: Apache-2.0
#include "harness/system/start.hpp"
#include "harness/core/error.hpp"
#include <csignal>
#include <cstdlib>
#include <new>
#include <sys/time.h>
#include <unistd.h>

namespace recollect {
namespace {

constexpr int seconds = 4; // a start takes 0.02 s
// How libraries react if memory is refused: retry for ever (until the timer's SIGPROF), abort, or write to address 0.
constexpr int ends[] = {SIGPROF, SIGABRT, SIGSEGV};

[[noreturn]] void give_up() {
  const char said[] =
      "recollect: the libraries do not start: too little memory (ulimit -v), or set OMP_NUM_THREADS=1\n";
  if (write(STDERR_FILENO, said, sizeof said - 1) < 0) _exit(exit_input);
  _exit(exit_input);
}
void give_up_at(int) { give_up(); }

volatile bool has_started = false;
void give_up_before_main() { // the runtimes of Fortran and OpenMP call exit(1)
  if (!has_started) give_up();
}

} // namespace

void limit_start() {
  has_started = false;
  std::atexit(give_up_before_main);
  for (const int end : ends) signal(end, give_up_at);
  std::set_new_handler(give_up); // no code catches C++ exceptions before main()
  const itimerval once{{0, 0}, {seconds, 0}};
  setitimer(ITIMER_PROF, &once, nullptr);
}

void started() {
  has_started = true;
  const itimerval never{};
  setitimer(ITIMER_PROF, &never, nullptr);
  std::set_new_handler(nullptr);
  for (const int end : ends) {
    struct sigaction now; // a sanitizer may have replaced the handler since
    if (sigaction(end, nullptr, &now) == 0 && now.sa_handler == give_up_at) signal(end, SIG_DFL);
  }
}

} // namespace recollect
