// SPDX-License-Identifier: Apache-2.0
// Texts: splitting and joining, names as users type them, and numbers.
#pragma once
#include <string>
#include <vector>

namespace recollect {

std::vector<std::string> split(const std::string &text, char separator);
std::string join(const std::vector<std::string> &parts, const std::string &separator);

/// Makes `text` printable on one line of a terminal: control characters and bytes that are not UTF-8 become '?'.
std::string printable(std::string text);

/// The text without the marks of its formulas: `$x_t$` becomes x_t. An unpaired $ stays.
std::string unmarked(std::string text);

/// Replaces '-' by '_', to compare identifiers in which both are equivalent.
std::string canonical(std::string name);

/// Shell-style match of '*', '?' and '[...]' against the whole of `name`.
bool glob_match(const std::string &pattern, const std::string &name);

/// ", did you mean 'x'?" for the nearest known name. If none is near, a list of the known names.
std::string suggestion(const std::string &name, const std::vector<std::string> &known);

/// Shortest decimal text that reads back as the same double ("nan", "inf" for non-finite values).
std::string number(double value);

/// Parses the whole of `text` as a finite number. Usage error that names `what` if the text is no finite number.
double parse_number(const std::string &text, const std::string &what);

} // namespace recollect
