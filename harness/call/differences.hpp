// SPDX-License-Identifier: Apache-2.0
// A gradient against central differences of the definition: what holds a backward pass where the tape of gradient() does
// not run, on a GPU.
#pragma once
#include "harness/call/gradient.hpp"
#include <cmath>

namespace recollect {

/// How sum(weights.o * o) + sum(weights.state * state) rises along one random direction of one tensor.
struct Slope {
  std::string name;                  // dq, dk, ..., dw
  double claimed, size;              // <candidate, direction>, and the sum of its terms' sizes
  double measured, rounding;         // by differences, and what a rounding of each output makes of them
  static constexpr double at = 1e-7; // of the terms
  bool right() const { return std::fabs(claimed - measured) <= at * size + rounding; } // nor NaN
};

/// One of every tensor that `candidate` has, along numbers in proportion to its own (zeros stay), by the definition in float64. Not of the initial state, in which some layers
/// keep a count of steps.
std::vector<Slope> slopes(const Variant &variant, const Sequence &sequence, const Params &params,
                          const OutputWeights &weights, const Sequence &candidate, std::uint64_t seed = 1);

/// Whether differences in 113 bits along the same direction confirm the claim of a slope. Of a layer whose definition is ill
/// conditioned, float64's own are drowned in rounding. It takes a hundred times as long, where kernels run on the host.
bool right_in_113_bits(const Slope &slope, const Variant &variant, const Sequence &sequence, const Params &params,
                       const OutputWeights &weights, std::uint64_t seed = 1);

} // namespace recollect
