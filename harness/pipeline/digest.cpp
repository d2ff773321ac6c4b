// SPDX-License-Identifier: Apache-2.0
#include "harness/pipeline/digest.hpp"

namespace recollect {
namespace {

/// FNV-1a over 64 bits. A text counts up to its first zero byte, which is where a file ends it.
class Fnv {
public:
  std::uint64_t value = 0xcbf29ce484222325;
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> Fnv &operator<<(T number) {
    return raw(&number, sizeof number);
  }
  Fnv &operator<<(const std::string &text) { return raw(text.c_str(), std::strlen(text.c_str()) + 1); }

private:
  Fnv &raw(const void *data, size_t size) {
    for (size_t i = 0; i < size; ++i) value = (value ^ static_cast<const unsigned char *>(data)[i]) * 0x100000001b3;
    return *this;
  }
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
