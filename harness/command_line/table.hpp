// SPDX-License-Identifier: Apache-2.0
// Tables on the terminal.
#pragma once
#include <iosfwd>
#include <string>
#include <vector>

namespace recollect {

using Rows = std::vector<std::vector<std::string>>;

/// Left-aligned columns, two spaces apart; the first row is the heading. The widest columns wrap if the table would be
/// wider than the terminal.
void print_table(std::ostream &out, const Rows &rows);

/// Columns of the terminal behind a descriptor (standard output), or the value of COLUMNS. Unlimited elsewhere, so that
/// a pipe gets one line per row; also under mpirun, whose terminal has no width.
size_t terminal_width(int descriptor = 1);
/// "name        text ...", wrapped to the terminal's width. Lines after the first are indented by `indent`.
std::string wrapped(const std::string &text, const std::string &name, size_t indent);

/// Wraps each line to the terminal's width. Further lines are aligned with the text after the first gap of two spaces,
/// else indented a little.
std::string folded(const std::string &text);

/// The text with FAILED and WRONG in red if standard output is a terminal and NO_COLOR is not set.
std::string alarmed(const std::string &text);

/// The longest beginning of a UTF-8 text that fits `columns` columns.
std::string cut(const std::string &text, size_t columns);

/// Six significant digits.
std::string brief(double value);

} // namespace recollect
