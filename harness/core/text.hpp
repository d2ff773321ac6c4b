// SPDX-License-Identifier: Apache-2.0
// Names as users type them: matching, globbing, suggestions, number formatting.
#pragma once
#include <string>
#include <vector>

namespace recollect {

std::vector<std::string> split(const std::string &text, char separator);
std::string join(const std::vector<std::string> &parts, const std::string &separator);

/// Makes `text` printable on one line of a terminal: control characters and bytes that are not UTF-8 become '?'.
std::string printable(std::string text);

/// Identifiers compare with '-' and '_' interchangeable: both become '_'.
std::string canonical(std::string name);

/// Shell-style match of '*', '?' and '[...]' over the whole of `name`.
bool glob_match(const std::string &pattern, const std::string &name);

/// ", did you mean 'x'?" for the nearest known name, or the list of known names when none is near.
std::string suggestion(const std::string &name, const std::vector<std::string> &known);

/// Shortest decimal text that reads back as the same double ("nan", "inf" for non-finite values).
std::string number(double value);

/// The whole of `text` as a finite number; usage error naming `what` otherwise.
double parse_number(const std::string &text, const std::string &what);

} // namespace recollect
