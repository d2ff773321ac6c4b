// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace recollect {

/// Parses the command line, runs one subcommand, returns the exit status (error.hpp). Nothing throws out of it.
int run_command_line(int argc, char **argv);

} // namespace recollect
