// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/inputs.hpp"
#include "harness/numerics/random.hpp"
#include <cmath>

namespace recollect {

void normalise_rows(std::vector<double> &rows, size_t width) {
  for (size_t i = 0; i < rows.size(); i += width) {
    double square = 0;
    for (size_t j = i; j < i + width; ++j) square += rows[j] * rows[j];
    for (size_t j = i; j < i + width; ++j) rows[j] /= std::sqrt(square);
  }
}

Sequence random_sequence(const Shape &shape, std::uint64_t seed, Keys keys) {
  const size_t steps = shape.heads() * shape.T, Dk = shape.Dk;
  Sequence s;
  s.shape = shape;
  s.q = Stream(seed, "inputs/q").normals(steps * Dk);
  s.k = Stream(seed, "inputs/k").normals(steps * Dk);
  s.v = Stream(seed, "inputs/v").normals(steps * shape.Dv);
  s.w = Stream(seed, "inputs/w").normals(steps * Dk);
  s.beta = Stream(seed, "inputs/beta").uniforms(steps, 0.2, 1);
  s.alpha = Stream(seed, "inputs/alpha").uniforms(steps, 0.8, 1);
  s.lambda = Stream(seed, "inputs/lambda").uniforms(steps * Dk, 0.8, 1);
  if (keys == Keys::repeated)
    for (size_t i = Dk; i < s.k.size(); ++i) s.k[i] = s.k[i % Dk] + 0.01 * s.k[i];
  if (keys == Keys::gaussian) {
    for (double &x : s.q) x /= std::sqrt(double(Dk));
    for (double &x : s.k) x /= std::sqrt(double(Dk));
  } else {
    normalise_rows(s.q, Dk);
    normalise_rows(s.k, Dk);
  }
  normalise_rows(s.w, Dk);
  return s;
}

namespace {
std::vector<double> cut(const std::vector<double> &data, const Shape &shape, int begin, int end) {
  if (data.empty()) return {};
  const size_t width = data.size() / (shape.heads() * shape.T);
  std::vector<double> part;
  part.reserve(shape.heads() * (end - begin) * width);
  for (size_t head = 0; head < shape.heads(); ++head) {
    const auto row = data.begin() + head * shape.T * width;
    part.insert(part.end(), row + begin * width, row + end * width);
  }
  return part;
}
} // namespace

Sequence slice_steps(const Sequence &s, int begin, int end) {
  Sequence part;
  part.shape = s.shape;
  part.shape.T = end - begin;
  for (Tensor tensor : all_tensors) part[tensor] = cut(s[tensor], s.shape, begin, end);
  if (begin == 0) part.state = s.state;
  return part;
}

} // namespace recollect
