// SPDX-License-Identifier: Apache-2.0
// A set of inputs on which kernels often fail.
//
// Kernels often work in chunks of 64 steps. Lengths (1 and 2; 63 and 64; 65 and 130; 250), gates, keys, widths and
// numbers of heads are crossed in a covering array of strength two: any two values of two of these factors occur
// together in some case. Each value also occurs with a given state, with beta 0 and 2, and with a w that is not unit.
// In addition there are a long text, and a prefill followed by a decode step from its final state.
#pragma once
#include "harness/check/precision.hpp"
#include "harness/check/results.hpp"
#include <limits>

namespace recollect {

/// One case of the battery. Its inputs are exact in `precision`.
struct BatteryCase {
  std::string name;      // such as T130-gates01-S0; also the stem of the case's file
  std::string why;       // the case's purpose, and what was changed because the layer does not support it
  bool well_conditioned; // unit keys and moderate gates: unstable forms are judged on such cases only
  CheckCase problem;
};

/// About 24 cases for the layer; with `gradient`, do and dstate are drawn as well. Left out are cases that do not
/// concern the layer (gates of a layer without gates, a state where there is none) and, for an unstable layer,
/// ill-conditioned cases. If the layer's definition is slow, cases are shorter and narrower; `why` then says so. Cases
/// of more than `most_steps` are left out, which saves the time to draw them. Optional inputs in `without` are
/// not given.
std::vector<BatteryCase> battery(const Variant &variant, const Params &params, Precision precision, bool gradient,
                                 std::uint64_t seed = 1, int most_steps = std::numeric_limits<int>::max(),
                                 const std::vector<Tensor> &without = {});

/// A row of the covering array: for each factor, the index of its value. For tests.
struct BatteryRow {
  int steps, gates, keys, widths, heads, state, beta, w;
};
const std::vector<BatteryRow> &battery_rows();

} // namespace recollect
