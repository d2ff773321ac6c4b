// SPDX-License-Identifier: Apache-2.0
// Other programs.
#pragma once
#include <string>
#include <vector>

namespace recollect {

/// Runs words[0] (found on the PATH) with the others as its arguments, its output kept or thrown away. It ends when this
/// process does. Its exit status; -1 where it could not be started or was killed.
int run_program(const std::vector<std::string> &words);
int run_quietly(const std::vector<std::string> &words);

} // namespace recollect
