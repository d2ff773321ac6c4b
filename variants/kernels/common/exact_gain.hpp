// SPDX-License-Identifier: Apache-2.0
// Exact solution of the delta rule's gradient flow over a time b. The flow erases the share 1 - exp(-b s) along a key
// with squared length s; the gain is this share divided by s.
#pragma once
#include "harness/device/math.hpp"

namespace recollect::variants {

/// (1 - exp(-b s)) / s for b, s >= 0, or b if s = 0. Cancellation is avoided by 1 - exp(-x) = 2 tanh(x/2) / (1 +
/// tanh(x/2)).
template <class Real> KOKKOS_FUNCTION Real exact_gain(Real b, Real s) {
  const Real x = b * s, half = math::tanh(x / 2), share = 2 * half / (1 + half);
  return x > 1 ? share / s : x > Real(1e-30) ? b * (share / x) : b * (1 - x / 2);
}
/// Derivative of exact_gain with respect to s: (x exp(-x) - 1 + exp(-x)) / s^2 with x = b s. A power series is used
/// where the terms cancel.
template <class Real> KOKKOS_FUNCTION Real exact_gain_slope(Real b, Real s) {
  const Real x = b * s, decay = math::exp(-x);
  if (x > 1) return decay > 0 ? (x * decay - 1 + decay) / s / s : -1 / s / s;
  Real sum = 0, term = Real(-0.5); // term n: (-1)^(n+1) x^n / (n + 2)!
  for (int n = 0; n < 18; ++n) sum += Real(n + 1) * term, term *= -x / Real(n + 3);
  return b * b * sum;
}

} // namespace recollect::variants
