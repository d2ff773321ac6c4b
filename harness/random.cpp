// SPDX-License-Identifier: Apache-2.0
#include "random.hpp"
#include <Random123/philox.h>
#include <cmath>
#include <numeric>
#include <utility>

namespace recollect {
namespace {

struct Pair {
  std::uint64_t first, second;
};

Pair block(std::uint64_t seed, std::uint64_t stream, std::uint64_t counter) {
  const auto low = [](std::uint64_t x) { return std::uint32_t(x); };
  const auto high = [](std::uint64_t x) { return std::uint32_t(x >> 32); };
  const r123::Philox4x32::ctr_type c = {{low(counter), high(counter), low(stream), high(stream)}};
  const r123::Philox4x32::key_type k = {{low(seed), high(seed)}};
  const auto r = r123::Philox4x32()(c, k);
  return {std::uint64_t(r[1]) << 32 | r[0], std::uint64_t(r[3]) << 32 | r[2]};
}

double open_unit(std::uint64_t bits) { return (double(bits >> 11) + 0.5) * 0x1p-53; }

struct Normals {
  double first, second;
};

Normals box_muller(std::uint64_t seed, std::uint64_t stream, std::uint64_t pair) {
  const Pair b = block(seed, stream, pair);
  const double radius = std::sqrt(-2 * std::log(open_unit(b.first))), angle = 2 * M_PI * open_unit(b.second);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

} // namespace

std::uint64_t Stream::bits(std::uint64_t index) const {
  const Pair b = block(seed_, stream_, index / 2);
  return index % 2 ? b.second : b.first;
}
double Stream::uniform(std::uint64_t index) const { return open_unit(bits(index)); }
double Stream::normal(std::uint64_t index) const {
  const Normals n = box_muller(seed_, stream_, index / 2);
  return index % 2 ? n.second : n.first;
}
std::uint64_t Stream::below(std::uint64_t index, std::uint64_t n) const {
  return std::uint64_t((static_cast<unsigned __int128>(bits(index)) * n) >> 64);
}

std::vector<double> Stream::normals(size_t count, std::uint64_t first) const {
  std::vector<double> values(count);
  size_t i = 0;
  if (first % 2 && count) values[i++] = normal(first);
  for (; i + 1 < count; i += 2) {
    const Normals n = box_muller(seed_, stream_, (first + i) / 2);
    values[i] = n.first, values[i + 1] = n.second;
  }
  if (i < count) values[i] = normal(first + i);
  return values;
}

std::vector<double> Stream::uniforms(size_t count, double low, double high, std::uint64_t first) const {
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = low + (high - low) * uniform(first + i);
  return values;
}

std::vector<int> Stream::permutation(int n) const {
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  for (int i = n - 1; i > 0; --i) std::swap(order[i], order[below(n - 1 - i, i + 1)]);
  return order;
}

} // namespace recollect
