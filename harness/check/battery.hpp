// SPDX-License-Identifier: Apache-2.0
// A set of inputs on which kernels often fail.
//
// Five factors are crossed in a covering array of strength two: lengths (1 and 2; 63 and 64; 65 and 130; 250), gates,
// keys, widths, and numbers of heads. Any two values of two different factors occur together in some case. Lengths lie
// near 64 because kernels often work in chunks of 64 steps. Each value also occurs with a given state, with beta 0 and
// 2, and with rows of w that are not unit vectors. Two more cases are a long text, and a prefill; a decode step starts
// from the final state of the prefill.
#pragma once
#include "harness/check/precision.hpp"
#include "harness/check/results.hpp"
#include <limits>

namespace recollect {

/// One case of the battery. Its inputs are exact in `precision`.
struct BatteryCase {
  std::string name;      // such as T130-gates01-S0; also the stem of the case's file
  std::string why;       // the purpose of the case, and what was changed to suit the layer
  bool well_conditioned; // unit or Gaussian keys, gates and beta in (0, 1); unstable forms are judged on these only
  CheckCase problem;
};

/// About 24 cases for the layer; with `gradient`, do and dstate are drawn as well. Cases that differ only in gates or a
/// state that the layer does not have occur once. Ill-conditioned cases of an unstable layer, and cases of more than
/// `most_steps` steps, are left out before they are drawn. If the layer's definition is slow, cases are shorter and
/// narrower, and `why` says so. Optional inputs in `without` are not given.
std::vector<BatteryCase> battery(const Variant &variant, const Params &params, Precision precision, bool gradient,
                                 std::uint64_t seed = 1, int most_steps = std::numeric_limits<int>::max(),
                                 const std::vector<Tensor> &without = {});

/// A row of the covering array: for each factor, the index of its value. For tests.
struct BatteryRow {
  int steps, gates, keys, widths, heads, state, beta, w;
};
const std::vector<BatteryRow> &battery_rows();

} // namespace recollect
