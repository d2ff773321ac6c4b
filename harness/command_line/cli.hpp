// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace recollect {

/// Parses the command line, runs one subcommand, and returns the exit status (error.hpp). Throws nothing.
int run_command_line(int argc, char **argv);

/// How one command of `recollect serve` ended, and what it printed.
struct Captured {
  int status; // exit status (error.hpp)
  std::string out, err;
};
/// Runs a command in this process. `words` is its command line without the program's name. Throws nothing.
Captured run_captured(const std::vector<std::string> &words);

} // namespace recollect
