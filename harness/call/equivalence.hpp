// SPDX-License-Identifier: Apache-2.0
// Compares a form with the definition: measures their difference, and computes the largest difference that rounding
// allows.
#pragma once
#include "harness/call/conditioning.hpp"

namespace recollect {

struct Equivalence {
  double deviation = 0;                             // Deviation::largest() (conditioning.hpp)
  double bound = 0;                                 // (T + Dk + chunk) eps kappa (conditioning.hpp)
  bool holds() const { return deviation <= bound; } // false for NaN
};

/// Output of the recurrent form in float64, and input_condition() of the sequence.
struct Definition {
  Output output;
  double condition;
};
Definition definition(const Variant &variant, const Sequence &sequence, const Params &params);

/// Compares `run` on `sequence` with the definition. The bound holds for exact forms only.
Equivalence equivalence(const Variant &variant, const Sequence &sequence, const Run &run, const Definition &definition);

} // namespace recollect
