// SPDX-License-Identifier: Apache-2.0
// One-sided derivatives of a layer's definition by difference quotients in 113-bit arithmetic. Tests compare every
// gradient with them where a function switches (a max, a root, a division by what may be 0).
#pragma once
#include "harness/call/gradient.hpp"
#include <optional>

namespace recollect {

/// Limits of the difference quotient from below and from above. Empty if the layer does not accept inputs on that side.
/// NaN if there is no limit, because the function jumps or its slope is infinite.
struct OneSided {
  std::optional<double> below, above;
  /// The derivative, if the limits that exist agree to 1e-9 of `size`; else empty.
  std::optional<double> derivative(double size) const;
};

/// Difference quotients of sum(weights.o * o) + sum(weights.state * final state) at `sequence`. Logic error unless
/// kernels run on the CPU.
class Quotients {
public:
  Quotients(const Variant &variant, const Sequence &sequence, const Params &params, const OutputWeights &weights);
  ~Quotients();
  /// The one-sided derivatives along `direction`, whose arrays have the sizes of the sequence's. An empty array leaves
  /// that input unchanged.
  OneSided along(const Sequence &direction) const;

private:
  struct Prepared;
  std::unique_ptr<Prepared> prepared_;
};

} // namespace recollect
