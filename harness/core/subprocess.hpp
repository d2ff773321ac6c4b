// SPDX-License-Identifier: Apache-2.0
// Other programs.
#pragma once
#include <string>
#include <vector>

namespace recollect {

/// Runs words[0] (found on the PATH) with the others as its arguments. It ends when this process does. Its exit status; -1
/// where it could not be started or was killed. What it says on standard error is put into `errors`.
int run_program(const std::vector<std::string> &words, std::string &errors);
/// The same with all output thrown away.
int run_quietly(const std::vector<std::string> &words);

} // namespace recollect
