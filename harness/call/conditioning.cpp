// SPDX-License-Identifier: Apache-2.0
#include "harness/call/conditioning.hpp"
#include "harness/numerics/random.hpp"
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

Sequence perturbed(const Sequence &sequence, double delta, int draw) {
  Sequence moved = sequence;
  std::uint64_t array_number = 100 * draw;
  const auto signs = [&] { return Stream(17, "conditioning/signs", array_number++); };
  for (Tensor tensor : all_tensors) {
    perturb(moved[tensor], delta, signs());
    if (facts_of(tensor).decay)
      for (double &x : moved[tensor]) x = std::min(x, 1.0);
  }
  perturb(moved.state, delta, signs());
  return moved;
}

double input_condition(const Variant &variant, const Sequence &sequence, const Params &params, int draws) {
  const double delta = 1e-9; // far above float64 rounding, far below the inputs
  const Run run{"recurrent", Real::f64, 1, params};
  const Output base = forward(variant, sequence, run);
  double kappa = 1;
  for (int draw = 0; draw < draws; ++draw)
    kappa = std::max(kappa, deviation(forward(variant, perturbed(sequence, delta, draw), run), base).largest() / delta);
  return variant.solved_condition ? kappa + variant.solved_condition(sequence, params) : kappa;
}

double accumulated_terms(const Shape &shape, int chunk) { return double(shape.T) + shape.Dk + chunk; }

} // namespace recollect
