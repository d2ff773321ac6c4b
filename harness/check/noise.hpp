// SPDX-License-Identifier: Apache-2.0
// What rounding must do: how far an honest kernel of some number type strays from the float64 definition.
//
// The definition is run again on disturbed copies of the problem: every number given is moved by half a spacing of the
// type, up or down at random; a gate moves in its logarithm, which is what kernels keep; states (and their gradients) are
// moved likewise where one chunk hands over to the next. The RMS response of an element, together with half a spacing of
// the element itself and the rounding of float32 sums, is its noise sigma.
#pragma once
#include "harness/check/precision.hpp"
#include "harness/check/results.hpp"

namespace recollect {

/// Noise of one part, [heads, rows]: RMS over the channels of the row. A row backed by fewer than 32 numbers (channels
/// times draws) has at least the RMS of the rows next to it.
struct PartNoise {
  std::string name;
  std::vector<double> rows;
  Precision precision = Precision::f32;
};
using Noise = std::vector<PartNoise>;

constexpr int noise_draws = 8;

/// One disturbed copy of the problem, of draw 0, 1, ...: the numbers given are moved.
CheckCase disturbed(const CheckCase &problem, Precision precision, int draw, int chunk);

/// `chunk`: steps from one handover of the state to the next, at most T.
Noise noise_of(const CheckCase &problem, const PartList &definition, Precision precision, int chunk);

} // namespace recollect
