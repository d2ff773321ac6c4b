// SPDX-License-Identifier: Apache-2.0
#include "conditioning.hpp"
#include "random.hpp"
#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace recollect {
namespace {

double relative(const std::vector<double> &measured, const std::vector<double> &reference) {
  const double scale = max_abs(reference), difference = max_difference(measured, reference);
  return difference == 0 ? 0 : difference / scale;
}

void perturb(std::vector<double> &values, double delta, const Stream &signs) {
  for (size_t i = 0; i < values.size(); ++i) values[i] *= 1 + (signs.bits(i) & 1 ? delta : -delta);
}

} // namespace

Deviation deviation(const Output &measured, const Output &reference) {
  return {relative(measured.o, reference.o), relative(measured.state, reference.state)};
}

double input_condition(const Variant &variant, const Sequence &sequence, const Params &params, int draws) {
  const double delta = 1e-9; // far above float64 rounding, far below the inputs
  const Run run{"recurrent", Real::f64, 1, params};
  const Output base = forward(variant, sequence, run);
  double kappa = 1;
  for (int draw = 0; draw < draws; ++draw) {
    Sequence moved = sequence;
    std::uint64_t stream = 100 * (draw + 1);
    for (auto *array : {&moved.q, &moved.k, &moved.v, &moved.w, &moved.beta, &moved.state})
      perturb(*array, delta, Stream(17, ++stream));
    for (auto *array : {&moved.alpha, &moved.lambda}) {
      perturb(*array, delta, Stream(17, ++stream));
      for (double &x : *array) x = std::min(x, 1.0);
    }
    kappa = std::max(kappa, deviation(forward(variant, moved, run), base).largest() / delta);
  }
  return variant.solved_condition ? kappa + variant.solved_condition(sequence, params) : kappa;
}

ElementResponse element_response(const Dense &M, const Dense &B, const std::vector<double> &q) {
  const Stream signs(17, 1);
  Dense moved = M;
  for (int i = 0; i < M.rows; ++i)
    for (int j = 0; j < M.columns; ++j)
      if (signs.bits(size_t(std::min(i, j)) * M.columns + std::max(i, j)) & 1) moved(i, j) *= -1;
  try {
    const Dense BM = B * inverse(M), column(M.columns, 1, q);
    return {max_abs((BM * moved * inverse(M) * column).data), max_abs((BM * column).data)};
  } catch (const std::runtime_error &) {
    return {std::numeric_limits<double>::infinity(), 0};
  }
}

double accumulated_terms(const Shape &shape, int chunk) { return double(shape.T) + shape.Dk + chunk; }

} // namespace recollect
