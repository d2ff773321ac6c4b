// SPDX-License-Identifier: Apache-2.0
// Compares a gradient with central differences of the definition. Used on a GPU, where the tape of gradient() is not
// available.
#pragma once
#include "harness/call/gradient.hpp"
#include <cmath>

namespace recollect {

/// The derivative of sum(weights.o * o) + sum(weights.state * state) along one random direction of one tensor.
struct Slope {
  std::string name;          // dq, dk, ..., dw
  double claimed, size;      // the inner product <candidate, direction>; the sum of the absolute values of its terms
  double measured, rounding; // from differences; its error if every output is rounded once
  static constexpr double at = 1e-7; // relative to the size of the terms
  bool right() const { return std::fabs(claimed - measured) <= at * size + rounding; } // false for NaN
};

/// One slope per tensor that `candidate` has, by the float64 definition. Entries of the direction are proportional to
/// the tensor's numbers, so zeros stay 0. The initial state has none, because some layers count steps in it.
std::vector<Slope> slopes(const Variant &variant, const Sequence &sequence, const Params &params,
                          const OutputWeights &weights, const Sequence &candidate, std::uint64_t seed = 1);

/// Whether differences in 113-bit arithmetic along the same direction confirm the claimed slope. Needed for
/// ill-conditioned layers, whose float64 differences are dominated by rounding. Takes a hundred times as long.
/// Available only where kernels run on the CPU.
bool right_in_113_bits(const Slope &slope, const Variant &variant, const Sequence &sequence, const Params &params,
                       const OutputWeights &weights, std::uint64_t seed = 1);

} // namespace recollect
