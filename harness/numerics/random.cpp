// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/random.hpp"
#include "harness/core/fnv.hpp"
#include "harness/core/in_pieces.hpp"
#include <Random123/philox.h>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

namespace recollect {
namespace {

double open_unit(std::uint64_t bits) { return (double(bits >> 11) + 0.5) * 0x1p-53; }

struct Normals {
  double first, second;
};

std::uint64_t first_of(const std::array<std::uint32_t, 4> &r) { return std::uint64_t(r[1]) << 32 | r[0]; }
std::uint64_t second_of(const std::array<std::uint32_t, 4> &r) { return std::uint64_t(r[3]) << 32 | r[2]; }

Normals box_muller(const std::array<std::uint32_t, 4> &r) {
  const double radius = std::sqrt(-2 * std::log(open_unit(first_of(r)))), angle = 2 * M_PI * open_unit(second_of(r));
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

} // namespace

std::array<std::uint32_t, 4> philox(std::uint64_t counter, std::uint64_t stream, std::uint64_t key) {
  const auto low = [](std::uint64_t x) { return std::uint32_t(x); };
  const auto high = [](std::uint64_t x) { return std::uint32_t(x >> 32); };
  const auto r =
      r123::Philox4x32()({{low(counter), high(counter), low(stream), high(stream)}}, {{low(key), high(key)}});
  return {r[0], r[1], r[2], r[3]};
}

std::uint64_t Stream::hash(std::string_view name) { return fnv1a(name); }
Stream::Stream(std::uint64_t seed, std::string_view name, std::uint64_t number)
    : Stream(seed, std::string(name) + '#' + std::to_string(number)) {}

std::uint64_t Stream::bits(std::uint64_t index) const {
  const auto r = block(index / 2);
  return index % 2 ? second_of(r) : first_of(r);
}
double Stream::uniform(std::uint64_t index) const { return open_unit(bits(index)); }
double Stream::normal(std::uint64_t index) const {
  const Normals n = box_muller(block(index / 2));
  return index % 2 ? n.second : n.first;
}
std::uint64_t Stream::below(std::uint64_t index, std::uint64_t n) const {
  return std::uint64_t((static_cast<unsigned __int128>(bits(index)) * n) >> 64);
}

std::vector<double> Stream::normals(size_t count, std::uint64_t first) const {
  std::vector<double> values(count);
  in_pieces(count, [&](size_t i, size_t end) {
    if ((first + i) % 2 && i < end) values[i] = normal(first + i), ++i;
    for (; i + 1 < end; i += 2) {
      const Normals n = box_muller(block((first + i) / 2));
      values[i] = n.first, values[i + 1] = n.second;
    }
    if (i < end) values[i] = normal(first + i);
  });
  return values;
}

std::vector<double> Stream::uniforms(size_t count, double low, double high, std::uint64_t first) const {
  std::vector<double> values(count);
  in_pieces(count, [&](size_t i, size_t end) {
    for (; i < end; ++i) values[i] = low + (high - low) * uniform(first + i);
  });
  return values;
}

std::vector<int> Stream::permutation(int n) const {
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  for (int i = n - 1; i > 0; --i) std::swap(order[i], order[below(n - 1 - i, i + 1)]);
  return order;
}

} // namespace recollect
