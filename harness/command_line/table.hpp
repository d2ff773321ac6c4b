// SPDX-License-Identifier: Apache-2.0
// Tables on the terminal.
#pragma once
#include <iosfwd>
#include <string>
#include <vector>

namespace recollect {

using Rows = std::vector<std::vector<std::string>>;

/// Left-aligned columns, two spaces apart; the first row is the heading. The widest columns break into lines where the
/// table would be wider than the terminal.
void print_table(std::ostream &out, const Rows &rows);

/// Columns of the terminal that a descriptor is (standard output), or that COLUMNS says; without end elsewhere, so that a
/// pipe has one line per row.
size_t terminal_width(int descriptor = 1);
/// "name        text ...": lines of at most the terminal's width, the later ones indented by `indent`.
std::string wrapped(const std::string &text, const std::string &name, size_t indent);

/// The text without the marks of its formulas, `$x_t$`; with them where one has no other.
std::string unmarked(std::string text);

/// Each line of the text in lines of at most the terminal's width: the later ones stand under what follows the first gap of
/// two spaces, else a little further right than the first.
std::string folded(const std::string &text);

/// The text with FAILED and WRONG in red where standard output is a terminal and NO_COLOR is not set.
std::string alarmed(const std::string &text);

/// The first characters of UTF-8 that fill at most so many columns.
std::string cut(const std::string &text, size_t columns);

/// Six significant digits.
std::string brief(double value);

} // namespace recollect
