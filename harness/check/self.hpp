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
  std::string skipped; // why it was not run or not judged; "" where it was
  Checked checked;
  double seconds = 0; // of the form and of judging it
  /// "gated_delta_net/chunked/T65-gates01-S0/f32"
  std::string title() const;
};

struct SelfOptions {
  bool quick = false;                            // a short and an odd-length case alone
  std::vector<Real> reals{Real::f32, Real::f64}; // what arrays are stored in: these, or one of 16 bits
  std::vector<Math> maths{Math::exact};          // of products of float32 arrays
  std::uint64_t seed = 1;
};

/// Exact forms in each type, outputs and, where a form has a backward pass, gradients, each case against one float64
/// reference. The inputs are exact in the type, where there are several in float32. The definition in float64 is run
/// again only where it has a backward pass of its own. Forms that are not stable are judged on well-conditioned cases
/// alone. `told` hears of each as it is done; of a case that has no reference, as of one that cannot be decided.
void check_forms(const Variant &variant, const SelfOptions &options, const std::function<void(const SelfCase &)> &told);

} // namespace recollect
