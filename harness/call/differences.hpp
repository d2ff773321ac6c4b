// SPDX-License-Identifier: Apache-2.0
// Compares a gradient with central differences of the definition. Used where the tape of gradient() takes long, or on a
// GPU, where it is not available.
#pragma once
#include "harness/call/gradient.hpp"
#include <cmath>

namespace recollect {

/// The derivative of sum(weights.o * o) + sum(weights.state * state) along a random direction of one tensor.
struct Slope {
  std::string name;          // dq, dk, ..., dw
  double claimed, size;      // inner product <candidate, direction>, and the sum of the absolute values of its terms
  double measured, rounding; // slope from differences, and the error of this slope if each output is rounded once
  static constexpr double at = 1e-7; // the tolerance relative to `size`
  bool right() const { return std::fabs(claimed - measured) <= at * size + rounding; } // false for NaN
};

/// One slope per non-empty tensor of `candidate`, measured on the float64 definition. A direction moves each number in
/// proportion to its size, so zeros stay 0. No slope is measured for the initial state, because some layers count steps
/// in it.
std::vector<Slope> slopes(const Variant &variant, const Sequence &sequence, const Params &params,
                          const OutputWeights &weights, const Sequence &candidate, std::uint64_t seed = 1);

/// Whether differences in 113-bit arithmetic along the same direction confirm the claimed slope. Needed for
/// ill-conditioned layers, where rounding dominates float64 differences. Takes a hundred times as long as slopes().
/// Available only where kernels run on the CPU.
bool right_in_113_bits(const Slope &slope, const Variant &variant, const Sequence &sequence, const Params &params,
                       const OutputWeights &weights, std::uint64_t seed = 1);

} // namespace recollect
