// SPDX-License-Identifier: Apache-2.0
// Tables on the terminal.
#pragma once
#include <iosfwd>
#include <string>
#include <vector>

namespace recollect {

using Rows = std::vector<std::vector<std::string>>;

/// Left-aligned columns, two spaces apart; the first row is the heading.
void print_table(std::ostream &out, const Rows &rows);

/// Six significant digits.
std::string brief(double value);

} // namespace recollect
