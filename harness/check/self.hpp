// SPDX-License-Identifier: Apache-2.0
// Compares every form of a layer with its definition, over the battery.
#pragma once
#include "harness/check/battery.hpp"
#include "harness/check/check.hpp"

namespace recollect {

/// One form in one type and arithmetic on one case.
struct SelfCase {
  std::string layer, form, name; // name: of the case
  Shape shape;
  Real real = Real::f32;
  Math math = Math::exact;
  std::string skipped; // why it was not run or not judged; else ""
  Checked checked;
  double seconds = 0; // time of the form and of judging it
  /// "gated_delta_net/chunked/T65-gates01-S0/f32"
  std::string title() const;
};

struct SelfOptions {
  bool quick = false;                            // only a short case and one of odd length
  std::vector<Real> reals{Real::f32, Real::f64}; // types of arrays: f32 and f64, or one 16-bit type
  std::vector<Math> maths{Math::exact};          // precision of products of float32 arrays
  std::uint64_t seed = 1;
};

/// Judges exact forms in each type, on outputs and (if the form has a backward pass) gradients. A case has one float64
/// reference; its inputs are exact in the narrowest of the types. The definition itself is run in float64 as a
/// candidate only if it has a backward pass of its own. Unstable forms are judged on well-conditioned cases only.
/// `told` is called after each judgement; a case without a reference is reported as undecided.
void check_forms(const Variant &variant, const SelfOptions &options, const std::function<void(const SelfCase &)> &told);

} // namespace recollect
