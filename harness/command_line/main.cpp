// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/cli.hpp"
#include "harness/device/backend.hpp"

int main(int argc, char **argv) {
  recollect::let_idle_threads_sleep(argv);
  return recollect::run_command_line(argc, argv);
}
