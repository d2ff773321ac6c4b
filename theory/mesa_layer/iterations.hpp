// SPDX-License-Identifier: Apache-2.0
// Iterations that solve A x = b from x = 0, and a measure of the error of x.
#pragma once
#include "theory/support/one_head.hpp"
#include <cmath>

namespace recollect::theory {
/// x after `steps` steps of steepest descent, or of conjugate gradients; A [d,d] symmetric positive definite, b [d,1].
inline Dense descent_steps(const Dense &A, const Dense &b, int steps, bool conjugate) {
  Dense x(b.rows, 1), r = b, p = b;
  for (int k = 0; k < steps && square(r) > 0; ++k) {
    const Dense Ap = A * p;
    const double step = square(r) / inner(p.data, Ap.data), before = square(r);
    x = x + step * p, r = r - step * Ap;
    p = conjugate ? r + (square(r) / before) * p : r;
  }
  return x;
}
inline Dense conjugate_gradient_steps(const Dense &A, const Dense &b, int steps) {
  return descent_steps(A, b, steps, true);
}

/// |x - x*|_A / |x*|_A, in the norm of A.
inline double energy_error(const Dense &A, const Dense &x, const Dense &solution) {
  const Dense error = x - solution;
  return std::sqrt(inner(error.data, (A * error).data) / inner(solution.data, (A * solution).data));
}

/// 2 ((sqrt kappa - 1) / (sqrt kappa + 1))^k
inline double chebyshev_bound(double condition, int k) {
  const double root = std::sqrt(condition);
  return 2 * std::pow((root - 1) / (root + 1), k);
}
} // namespace recollect::theory
