// SPDX-License-Identifier: Apache-2.0
// Lists of values as users type them.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace recollect {

/// "8" and "8,16,x" are lists; "16:512:*2" is 16, 32, ... up to 512; "10:50:+20" is 10, 30, 50; "10:13" is 10, 11, 12,
/// 13. Usage error that names `what` if a range is malformed, empty, never ends or has more than 10^4 values.
std::vector<std::string> expand_values(const std::string &text, const std::string &what);

/// Each of `start`, extended by every combination of the values that `settings` (name -> values) lists. The values of
/// the last name vary fastest. Errors name `flag`.
std::vector<std::map<std::string, std::string>>
combinations(const std::map<std::string, std::string> &settings, const std::string &flag,
             std::vector<std::map<std::string, std::string>> start = {{}});

} // namespace recollect
