// SPDX-License-Identifier: Apache-2.0
// Plants the mistakes of the catalogue: each is made on purpose, with rounding in addition, to count how many are
// refused and how many are named. Correct results are checked as well, to count false alarms.
#pragma once
#include "harness/check/criteria.hpp"
#include "harness/check/diagnosis.hpp"

namespace recollect {

/// Inputs that show most mistakes: two batch entries of four heads whose gates are mild, exactly 1, down to 0, or
/// strong (their logarithms sum to more than 88 in size within a chunk); rows of several norms; a state, do and dstate.
/// Exact in the type. `wide`: values are wider than keys, the sequence is shorter, and w is left out.
CheckCase planting_ground(const Variant &variant, Precision precision, bool wide);

struct Planted {
  std::string layer, mistake, what; // mistake "": a correct kernel
  bool wide;
  double effect;                  // size of the mistake in float64, in units of our limits; visible from 1 on
  bool refused;                   // by judge()
  std::vector<bool> caught;       // by criteria_in_use()
  std::vector<std::string> named; // mistakes in the diagnosis
  bool named_right() const;       // whether `named` includes the planted mistake
};

/// Layers of every family. They are used if no layer is named.
const std::vector<std::string> &planted_layers();

/// Plants every mistake, in at most `most_ways` of its ways, and 8 correct kernels; in float32 also the layer's fast
/// form with two chunk lengths. A candidate is the mistake made on disturbed inputs, which stand for rounding inside a
/// kernel, with its results rounded to the type.
void plant(const Variant &variant, Precision precision, size_t most_ways,
           const std::function<void(const Planted &)> &told);

} // namespace recollect
