// SPDX-License-Identifier: Apache-2.0
// The error type. Its message is the single line that the user sees; its code is the exit status of the process.
#pragma once
#include <stdexcept>
#include <string>

namespace recollect {

enum ExitCode { exit_ok = 0, exit_failed = 1, exit_usage = 2, exit_input = 3 };

struct Error : std::runtime_error {
  ExitCode code;
  Error(ExitCode status, const std::string &what) : std::runtime_error(what), code(status) {}
};

/// For an unknown name or a bad value on the command line or in a suite. The exit status is 2.
[[noreturn]] inline void usage_error(const std::string &what) { throw Error(exit_usage, what); }

/// For missing or damaged input, output that cannot be written, or an unsuitable environment. The exit status is 3.
[[noreturn]] inline void input_error(const std::string &what) { throw Error(exit_input, what); }

} // namespace recollect
