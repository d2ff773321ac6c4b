// SPDX-License-Identifier: Apache-2.0 Plants the mistakes of the catalogue. Each mistake is made on purpose, on
// disturbed inputs that stand for rounding, to count how many mistakes are found and how many are named. Correct
// results are checked as well, to count false alarms.
#pragma once
#include "harness/check/criteria.hpp"
#include "harness/check/diagnosis.hpp"

namespace recollect {

/// Inputs that show most mistakes, exact in the type. There are two batch entries of four heads. The gates of the four
/// heads are mild; partly 1; down to 0; and strong (their logarithms sum to less than -88 within a chunk). Rows have
/// several norms, and a state, do and dstate are given. With `wide`, values are wider than keys, there are two heads,
/// the sequence is shorter, and an optional w is left out.
CheckCase planting_ground(const Variant &variant, Precision precision, bool wide);

struct Planted {
  std::string layer, mistake, what; // mistake "": a correct kernel
  bool wide;
  double effect;                  // largest error that the mistake causes in float64, over our limit: visible if >= 1
  bool refused;                   // by judge()
  std::vector<bool> caught;       // by criteria_in_use()
  std::vector<std::string> named; // mistakes in the diagnosis
  bool named_right() const;       // whether `named` includes the planted mistake
};

/// Layers of every family, the default of `plant`.
const std::vector<std::string> &planted_layers();

/// Checks every mistake, made in at most `most_ways` ways, and 8 correct kernels; in float32 also the layer's fast form
/// with two chunk lengths. A candidate consists of the results on disturbed inputs, which stand for rounding inside a
/// kernel, rounded to the type.
void plant(const Variant &variant, Precision precision, size_t most_ways,
           const std::function<void(const Planted &)> &told);

} // namespace recollect
