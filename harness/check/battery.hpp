// SPDX-License-Identifier: Apache-2.0
// The inputs that kernels trip over, as one set of cases.
#pragma once
#include "harness/check/precision.hpp"
#include "harness/check/results.hpp"

namespace recollect {

/// One case of the battery. Its inputs are exact in `precision`.
struct BatteryCase {
  std::string name; // T130-gates01-S0: also the stem of its file
  std::string why;  // what it is there for
  CheckCase problem;
};

/// About 24 cases for the layer; with `gradient` the weights do and dstate are drawn, too. Cases that do not concern a
/// layer (gates of a layer without gates, a state where there is none) are left out; layers whose definition is quadratic
/// in T, or whose state is large, have shorter ones.
std::vector<BatteryCase> battery(const Variant &variant, const Params &params, Precision precision, bool gradient,
                                 std::uint64_t seed = 1);

} // namespace recollect
