// SPDX-License-Identifier: Apache-2.0
// The inputs on which kernels fail most often, as one set of cases.
//
// Lengths (1 and 2; one chunk of 64 or a step less; a step or a few more; many chunks), gates, keys, widths and numbers
// of heads are crossed so that any two of their values occur together in some case; so is each of them with a given state, with
// beta 0 and 2, and with w that is not unit (a covering array of strength two). Beside them stand a long text, and a
// prefill, followed by a decode step from its final state.
#pragma once
#include "harness/check/precision.hpp"
#include "harness/check/results.hpp"

namespace recollect {

/// One case of the battery. Its inputs are exact in `precision`.
struct BatteryCase {
  std::string name;      // T130-gates01-S0: also the stem of its file
  std::string why;       // what it is there for, and what the layer cannot take of it
  bool well_conditioned; // unit keys and gates that are not extreme: forms that are not stable are judged on these only
  CheckCase problem;
};

/// About 24 cases for the layer; with `gradient` the weights do and dstate are drawn, too. Cases that do not concern a
/// layer (gates of a layer without gates, a state where there is none) are left out, and so are ill-conditioned ones of a
/// layer that is not stable. A layer whose definition takes long has shorter and narrower ones, and `why` says so.
std::vector<BatteryCase> battery(const Variant &variant, const Params &params, Precision precision, bool gradient,
                                 std::uint64_t seed = 1);

/// The rows of the covering array that cases are made from: an index into the values of each factor. For tests.
struct BatteryRow {
  int steps, gates, keys, widths, heads, state, beta, w;
};
const std::vector<BatteryRow> &battery_rows();

} // namespace recollect
