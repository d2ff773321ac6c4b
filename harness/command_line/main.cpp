// SPDX-License-Identifier: Apache-2.0
#include "harness/command_line/cli.hpp"
#include "harness/device/backend.hpp"
#include "harness/system/start.hpp"

__attribute__((section(".preinit_array"), used)) static void (*const before_libraries)() = recollect::limit_start;

int main(int argc, char **argv) {
  recollect::started();
  recollect::let_idle_threads_sleep(argv);
  return recollect::run_command_line(argc, argv);
}
