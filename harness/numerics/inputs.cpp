// SPDX-License-Identifier: Apache-2.0
#include "harness/numerics/inputs.hpp"
#include "harness/core/in_pieces.hpp"
#include "harness/numerics/random.hpp"
#include <cmath>

namespace recollect {

void normalise_rows(std::vector<double> &rows, size_t width) {
  in_pieces(
      rows.size() / width,
      [&](size_t row, size_t end) {
        for (; row < end; ++row) {
          double *const x = rows.data() + row * width;
          double square = 0;
          for (size_t j = 0; j < width; ++j) square += x[j] * x[j];
          const double length = std::sqrt(square);
          for (size_t j = 0; j < width; ++j) x[j] /= length;
        }
      },
      width);
}

Sequence random_sequence(const Shape &shape, std::uint64_t seed, Keys keys, const std::function<bool(Tensor)> &wanted) {
  const size_t steps = shape.heads() * shape.T, Dk = shape.Dk;
  const auto gates = [&](Tensor tensor, size_t n, double low) {
    return wanted(tensor) ? Stream(seed, "inputs/" + std::string(name_of(tensor))).uniforms(n, low, 1)
                          : std::vector<double>();
  };
  Sequence s;
  s.shape = shape;
  s.q = Stream(seed, "inputs/q").normals(steps * Dk);
  s.k = Stream(seed, "inputs/k").normals(steps * Dk);
  s.v = Stream(seed, "inputs/v").normals(steps * shape.Dv);
  if (wanted(Tensor::w)) s.w = Stream(seed, "inputs/w").normals(steps * Dk);
  s.beta = gates(Tensor::beta, steps, 0.2);
  s.alpha = gates(Tensor::alpha, steps, 0.8);
  s.lambda = gates(Tensor::lambda, steps * Dk, 0.8);
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

std::vector<double> steps_of(const std::vector<double> &all, const Shape &shape, int begin, int end) {
  if (all.empty()) return {};
  const size_t width = all.size() / (shape.heads() * shape.T);
  std::vector<double> steps;
  steps.reserve(shape.heads() * (end - begin) * width);
  for (size_t head = 0; head < shape.heads(); ++head) {
    const auto row = all.begin() + head * shape.T * width;
    steps.insert(steps.end(), row + begin * width, row + end * width);
  }
  return steps;
}

void put_steps(std::vector<double> &all, const std::vector<double> &steps, const Shape &shape, int begin, int end) {
  if (steps.empty()) return;
  const size_t of_head = steps.size() / shape.heads(), width = of_head / size_t(end - begin);
  all.resize(shape.heads() * shape.T * width);
  for (size_t head = 0; head < shape.heads(); ++head)
    std::copy_n(&steps[head * of_head], of_head, &all[(head * shape.T + begin) * width]);
}

Sequence slice_steps(const Sequence &s, int begin, int end) {
  Sequence part;
  part.shape = s.shape;
  part.shape.T = end - begin;
  for (Tensor tensor : all_tensors) part[tensor] = steps_of(s[tensor], s.shape, begin, end);
  if (begin == 0) part.state = s.state;
  return part;
}

} // namespace recollect
