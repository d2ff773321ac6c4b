// SPDX-License-Identifier: Apache-2.0
// Gradients fast enough to train with, of layers whose forms have no backward pass. gradient() (pipeline/gradient.hpp)
// serves every layer, at the cost of a tape of every operation; the layers below have recurrences or sums of their own, a
// head a thread, each held to gradient() of its definition in a test.
#pragma once
#include "harness/core/variant.hpp"

namespace recollect::train {

/// Derivatives of sum(weights * o) in q, k, v and what else the sequence gives, from the layer's own initial state.
using Adjoint = Sequence (*)(const Sequence &sequence, const Params &params, const std::vector<double> &weights);

/// Null where gradient() has to serve. rls and delta_former have one.
Adjoint find_adjoint(const std::string &variant);

/// By the layer's own adjoint, or by gradient().
Sequence mixer_gradient(const Variant &variant, const Sequence &sequence, const Params &params,
                        const std::vector<double> &weights);

/// Zeros of the shape of everything that the sequence gives.
Sequence zeros_like(const Sequence &sequence);
/// x . y and y += a x.
inline double inner(const double *x, const double *y, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}
inline void add(double a, const double *x, double *y, int n) {
  for (int i = 0; i < n; ++i) y[i] += a * x[i];
}

Sequence rls_adjoint(const Sequence &, const Params &, const std::vector<double> &);
/// With a slope of 1 through a rounding (straight-through), as 000's listing trains it.
Sequence delta_former_adjoint(const Sequence &, const Params &, const std::vector<double> &);

} // namespace recollect::train
