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

/// The value of COLUMNS, or the number of columns of the terminal behind a descriptor (by default standard output).
/// Unlimited if there is no terminal, so that a pipe gets one line per row, or if the terminal has no width, as under
/// mpirun.
size_t terminal_width(int descriptor = 1);
/// The name, padded to `indent` columns, and the text, wrapped to the width of the terminal. Lines after the first are
/// indented by `indent`.
std::string wrapped(const std::string &text, const std::string &name, size_t indent);

/// Wraps each line to the width of the terminal. Continuation lines are aligned with the text that follows the line's
/// first gap of two spaces; without such a gap they are indented by a few spaces.
std::string folded(const std::string &text);

/// The text with FAILED and WRONG in red if standard output is a terminal and NO_COLOR is not set.
std::string alarmed(const std::string &text);

/// The longest beginning of a UTF-8 text that fits `columns` columns.
std::string cut(const std::string &text, size_t columns);

/// Six significant digits.
std::string brief(double value);

} // namespace recollect
