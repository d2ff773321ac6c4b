// SPDX-License-Identifier: Apache-2.0
#include "harness/files/digest.hpp"
#include "harness/core/fnv.hpp"

namespace recollect {
namespace {

/// Hashes a text up to its first zero byte, where the text ends in a file.
class Fnv {
public:
  std::uint64_t value = fnv1a({});
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> Fnv &operator<<(T number) {
    return raw({reinterpret_cast<const char *>(&number), sizeof number});
  }
  Fnv &operator<<(const std::string &text) { return raw({text.c_str(), std::strlen(text.c_str()) + 1}); }

private:
  Fnv &raw(std::string_view bytes) { return value = fnv1a(bytes, value), *this; }
};

} // namespace

std::uint64_t digest(const Facts &facts) {
  std::uint64_t sum = 0;
  for (const auto &[name, value] : facts) sum += (Fnv() << name << value).value;
  return sum;
}

std::uint64_t digest(const Table &table) {
  Fnv fnv;
  fnv << table.name << std::uint64_t(table.columns.size());
  for (const Column &c : table.columns) fnv << c.name << int(c.kind);
  for (const auto &row : table.rows)
    for (const Cell &cell : row) std::visit([&](const auto &value) { fnv << value; }, cell);
  return fnv.value;
}

} // namespace recollect
