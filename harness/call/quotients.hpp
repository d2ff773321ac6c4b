// SPDX-License-Identifier: Apache-2.0
// One-sided derivatives of a layer's definition by difference quotients in 113-bit arithmetic. Tests compare every
// gradient with them at points where a function is not smooth (a max, a root, a division by a number that may be 0).
#pragma once
#include "harness/call/gradient.hpp"
#include <optional>

namespace recollect {

/// Limits of the difference quotient from below and from above. A limit has no value if the layer does not accept
/// inputs on its side. It is NaN if the function jumps or its slope is infinite.
struct OneSided {
  std::optional<double> below, above;
  /// The derivative: the mean of both limits if they agree to 1e-9 of `size`, or the only limit. Empty if there is
  /// none.
  std::optional<double> derivative(double size) const;
};

/// Difference quotients of the loss, sum(weights.o * o) + sum(weights.state * final state), at `sequence`. Logic error
/// unless kernels run on the CPU.
class Quotients {
public:
  Quotients(const Variant &variant, const Sequence &sequence, const Params &params, const OutputWeights &weights);
  ~Quotients();
  /// The one-sided derivatives along `direction`. Its arrays have the sizes of the arrays of the sequence; an empty
  /// array leaves the input unchanged.
  OneSided along(const Sequence &direction) const;

private:
  struct Prepared;
  std::unique_ptr<Prepared> prepared_;
};

} // namespace recollect
