// SPDX-License-Identifier: Apache-2.0
// A long table with typed columns, as stored in files.
#pragma once
#include "harness/core/error.hpp"
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace recollect {

/// whole: unsigned 64 bits (seeds); integer: signed 64 bits; real: float64; text: of any length.
enum class Kind { whole, integer, real, text };
using Cell = std::variant<std::uint64_t, std::int64_t, double, std::string>; // in the order of Kind

struct Column {
  std::string name;
  Kind kind;
};

struct Table {
  std::string name; // path in the file without the leading '/': "metrics", "series/accuracy_by_step"
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;

  /// Appends one row. Each value is converted to its column's kind; logic error if that is impossible.
  template <class... Values> void add(const Values &...values) {
    std::vector<Cell> row;
    row.reserve(columns.size());
    (row.push_back(cell(columns.at(row.size()).kind, values)), ...);
    if (row.size() != columns.size()) throw std::logic_error("a row of " + name + " has the wrong width");
    rows.push_back(std::move(row));
  }
  /// Index of the column with this name, or -1.
  int find(const std::string &column) const {
    for (size_t i = 0; i < columns.size(); ++i)
      if (columns[i].name == column) return int(i);
    return -1;
  }
  /// Input error if the table has no such column, or one of another kind.
  template <class T> const T &get(size_t row, const std::string &column) const {
    const int at = find(column);
    const T *found = at < 0 ? nullptr : std::get_if<T>(&rows.at(row).at(size_t(at)));
    if (!found) input_error("table " + name + " has no column " + column + ", or one of another kind");
    return *found;
  }

private:
  static Cell cell(Kind kind, const std::string &text) {
    if (kind != Kind::text) throw std::logic_error("a text in a column of numbers");
    return text;
  }
  static Cell cell(Kind kind, const char *text) { return cell(kind, std::string(text)); }
  template <class Number> static Cell cell(Kind kind, Number number) {
    if (kind == Kind::text) throw std::logic_error("a number in a column of texts");
    if (kind == Kind::whole) return std::uint64_t(number);
    if (kind == Kind::integer) return std::int64_t(number);
    return double(number);
  }
};

inline bool operator==(const Column &a, const Column &b) { return a.name == b.name && a.kind == b.kind; }
/// Bitwise equality: NaN equals itself (a parameter left automatic is NaN).
inline bool same(const Cell &a, const Cell &b) {
  const double *x = std::get_if<double>(&a), *y = std::get_if<double>(&b);
  // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison)
  return x && y ? std::memcmp(x, y, sizeof *x) == 0 : a == b;
}
inline bool operator==(const Table &a, const Table &b) {
  const auto same_row = [](const std::vector<Cell> &x, const std::vector<Cell> &y) {
    return x.size() == y.size() && std::equal(x.begin(), x.end(), y.begin(), same);
  };
  return a.name == b.name && a.columns == b.columns && a.rows.size() == b.rows.size() &&
         std::equal(a.rows.begin(), a.rows.end(), b.rows.begin(), same_row);
}

} // namespace recollect
