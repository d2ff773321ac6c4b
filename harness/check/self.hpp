// SPDX-License-Identifier: Apache-2.0
// Compares every form of a layer with the layer's definition, on the cases of the battery.
#pragma once
#include "harness/check/battery.hpp"
#include "harness/check/check.hpp"

namespace recollect {

/// The check of one form on one case, in one type and one precision of products.
struct SelfCase {
  std::string layer, form, name; // `name` is the name of the case
  Shape shape;
  Real real = Real::f32;
  Math math = Math::exact;
  std::string skipped; // why the form was not run or not judged; "" if it was judged
  Checked checked;
  double seconds = 0; // time of the form and of judging it
  /// Such as "gated_delta_net/chunked/T65-gates01-S0/f32".
  std::string title() const;
};

struct SelfOptions {
  bool quick = false;                            // only a short case and one of odd length
  std::vector<Real> reals{Real::f32, Real::f64}; // types of arrays: f32 and f64, or one 16-bit type
  std::vector<Math> maths{Math::exact};          // precision of products of float32 arrays
  std::uint64_t seed = 1;
};

/// Judges outputs and (if a form has a backward pass) gradients of every exact form, in each type. A case has one
/// float64 reference, and its inputs are exact in the narrowest of the types. The recurrent form, which is the
/// definition, is judged in float64 only if it has a backward pass. Unstable forms are judged on well-conditioned cases
/// only. `told` is called after each judgement; a case without a reference is reported as undecided.
void check_forms(const Variant &variant, const SelfOptions &options, const std::function<void(const SelfCase &)> &told);

} // namespace recollect
