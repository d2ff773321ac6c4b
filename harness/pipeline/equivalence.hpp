// SPDX-License-Identifier: Apache-2.0
// One form held against the definition: how far apart, and how far rounding allows.
#pragma once
#include "harness/pipeline/conditioning.hpp"

namespace recollect {

struct Equivalence {
  double deviation = 0;                             // of outputs and state, over the largest value of each
  double bound = 0;                                 // (T + Dk + C) eps kappa (conditioning.hpp)
  bool holds() const { return deviation <= bound; } // NaN does not
};

/// `run` on `sequence` against the float64 recurrent form. The bound is for forms that are exact.
Equivalence equivalence(const Variant &variant, const Sequence &sequence, const Run &run);

} // namespace recollect
