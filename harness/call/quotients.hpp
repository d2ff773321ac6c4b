// SPDX-License-Identifier: Apache-2.0
// One-sided derivatives of a layer's definition by difference quotients in 113 bits: what every gradient is held to where
// a function switches (a max, a root, a division by what may be 0).
#pragma once
#include "harness/call/gradient.hpp"
#include <optional>

namespace recollect {

/// Limits of the difference quotient from below and from above. Empty: the layer takes no such input. NaN: there is no
/// limit, because the function jumps or its slope is infinite.
struct OneSided {
  std::optional<double> below, above;
  /// The derivative, where the limits that exist agree to 1e-9 of `size`; empty where they differ.
  std::optional<double> derivative(double size) const;
};

/// Of sum(weights.o * o) + sum(weights.state * final state), at `sequence`. Where kernels do not run on the host it is
/// a logic error to ask.
class Quotients {
public:
  Quotients(const Variant &variant, const Sequence &sequence, const Params &params, const OutputWeights &weights);
  ~Quotients();
  /// Along `direction`, whose arrays have the sizes of the sequence's; an empty one: that input stays.
  OneSided along(const Sequence &direction) const;

private:
  struct Prepared;
  std::unique_ptr<Prepared> prepared_;
};

} // namespace recollect
