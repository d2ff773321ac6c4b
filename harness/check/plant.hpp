// SPDX-License-Identifier: Apache-2.0
// The catalogue planted: every mistake made on purpose, with rounding on top, to count what is refused and what is named;
// and right results, to count what is refused in error.
#pragma once
#include "harness/check/criteria.hpp"
#include "harness/check/diagnosis.hpp"

namespace recollect {

/// Inputs that show most mistakes: two batch entries of four heads whose gates are mild, exactly 1, down to 0, strong
/// (their logarithms sum beyond 88 in a chunk), rows of several norms, a state, do and dstate; exact in the type.
/// `wide`: values are wider than keys, shorter, and w is left out.
CheckCase planting_ground(const Variant &variant, Precision precision, bool wide);

struct Planted {
  std::string layer, mistake, what; // mistake "": a right kernel
  bool wide;
  double effect;                  // of the mistake in float64, in units of our limits; shows from 1 on
  bool refused;                   // by ours
  std::vector<bool> caught;       // by criteria_in_use()
  std::vector<std::string> named; // mistakes in the diagnosis
  bool named_right() const;       // the planted one is among them
};

/// Layers of every family, in which the catalogue is planted where none is named.
const std::vector<std::string> &planted_layers();

/// Every mistake in at most `most_ways` of its ways, and 8 right kernels, in float32 the layer's fast form in two
/// chunk lengths as well. A candidate is
/// the mistake made on disturbed inputs, as rounding inside a kernel disturbs them, its results rounded to the type.
void plant(const Variant &variant, Precision precision, size_t most_ways,
           const std::function<void(const Planted &)> &told);

} // namespace recollect
