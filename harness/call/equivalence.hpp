// SPDX-License-Identifier: Apache-2.0
// One form compared with the definition: the difference, and what rounding allows.
#pragma once
#include "harness/call/conditioning.hpp"

namespace recollect {

struct Equivalence {
  double deviation = 0;                             // of outputs and state, over the largest value of each
  double bound = 0;                                 // (T + Dk + C) eps kappa (conditioning.hpp)
  bool holds() const { return deviation <= bound; } // NaN does not
};

/// The float64 recurrent form's output, and its response to its inputs.
struct Definition {
  Output output;
  double condition;
};
Definition definition(const Variant &variant, const Sequence &sequence, const Params &params);

/// `run` on `sequence` against the definition. The bound is for forms that are exact.
Equivalence equivalence(const Variant &variant, const Sequence &sequence, const Run &run, const Definition &definition);

} // namespace recollect
