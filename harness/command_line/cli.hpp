// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace recollect {

/// Parses the command line, runs one subcommand, returns the exit status (error.hpp). Nothing throws out of it.
int run_command_line(int argc, char **argv);

/// How one command of `recollect serve` ended, and what it printed.
struct Captured {
  int status; // exit status (error.hpp)
  std::string out, err;
};
/// Runs a command, `words` without the program's name, in this process. Nothing throws out of it.
Captured run_captured(const std::vector<std::string> &words);

} // namespace recollect
